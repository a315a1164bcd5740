% SPDX-License-Identifier: Apache-2.0
function aug = augmentation(k)
  % AUG = AUGMENTATION(K)  The K-th small change of a digit, K = 0, 1, 2, ...; K = 0 changes nothing. K may be a row, one a digit.
  %
  % The changes fill the space of rotation, shift and scale evenly (an additive recurrence over the generalised golden ratio, M. Roberts
  % 2018) instead of randomly: so every language computes the same ones, and a second run the same as the first.
  %
  % Fields, each as large as K: angle (radians, at most 15 degrees), dx and dy (pixels, at most 1), scale (0.9 to 1.1).

  g = 1.1673039782614187;  % the root of g^5 = g + 1: the generalised golden ratio of four dimensions
  a1 = 1 / g;  % powers by division, whose rounding is the same everywhere: K multiplies any difference
  a2 = a1 / g;
  a3 = a2 / g;
  a4 = a3 / g;
  aug.angle = between(0.5 + k * a1) * (15 * pi / 180);
  aug.dx = between(0.5 + k * a2);
  aug.dy = between(0.5 + k * a3);
  aug.scale = 1 + 0.1 * between(0.5 + k * a4);
end

function s = between(u)
  % The fraction of U, spread over -1 to 1; 0 for U = 0.5.
  s = 2 * (u - floor(u)) - 1;
end
