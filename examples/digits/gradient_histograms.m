% SPDX-License-Identifier: Apache-2.0
function h = gradient_histograms(im)
  % H = GRADIENT_HISTOGRAMS(IM)  How strongly the image changes in 12 directions, in each of 7 x 7 cells.
  %
  % IM  196 x n, from WARP_DIGITS
  % H   588 x n: the cells of direction 1 (x runs fastest), then those of direction 2, ...; every column is normalised
  %
  % A histogram of oriented gradients after Dalal and Triggs (2005), with two smooth parts where theirs has bins: a gradient votes for a
  % direction with the fifth power of the cosine between them, and for the cells around it by its distance (triangles that overlap by half).
  % So no vote jumps when a pixel changes a little, which also makes two implementations agree to rounding.

  n = size(im, 2);
  im = reshape(im, 14, 14, n);
  gx = zeros(14, 14, n);
  gy = zeros(14, 14, n);
  gx(2:13, :, :) = im(3:14, :, :) - im(1:12, :, :);
  gy(:, 2:13, :) = im(:, 3:14, :) - im(:, 1:12, :);
  weight = 1 ./ (gx .* gx + gy .* gy + 1e-9);

  h = zeros(588, n);
  for d = 1:12
    angle = 2 * pi * (d - 1) / 12;
    vote = max(cos(angle) * gx + sin(angle) * gy, 0);
    sharpen = vote .* vote .* weight;  % cos^2, as |g|^2 cos^2 / |g|^2
    vote = vote .* sharpen .* sharpen;
    h(49 * (d - 1) + (1:49), :) = reshape(pool(vote, n), 49, n);
  end
  h = h ./ sqrt(sum(h .* h, 1) + 1e-12);
  h = sqrt(h + 0.01);  % lifts weak strokes; the 0.01 keeps the slope finite at 0
end

function cells = pool(v, n)
  % Sums 14 x 14 pixels into 7 x 7 cells, weights 1/4, 3/4, 3/4, 1/4 along x and along y.
  a = 0.75 * (v(1:2:13, :, :) + v(2:2:14, :, :));
  a(2:7, :, :) = a(2:7, :, :) + 0.25 * v(2:2:12, :, :);
  a(1:6, :, :) = a(1:6, :, :) + 0.25 * v(3:2:13, :, :);
  cells = 0.75 * (a(:, 1:2:13, :) + a(:, 2:2:14, :));
  cells(:, 2:7, :) = cells(:, 2:7, :) + 0.25 * a(:, 2:2:12, :);
  cells(:, 1:6, :) = cells(:, 1:6, :) + 0.25 * a(:, 3:2:13, :);
end
