% SPDX-License-Identifier: Apache-2.0
function im = warp_digits(px, aug)
  % IM = WARP_DIGITS(PX, AUG)  Deskews, centres, rotates, shifts and scales digits.
  %
  % PX  64 x n, one column a digit of 8 x 8 pixels (x runs fastest), from 0 to 1
  % AUG the change, from AUGMENTATION: the same for all, or one a digit
  % IM  196 x n, one column an image of 14 x 14 pixels (x runs fastest), smoothed
  %
  % One bilinear look-up per pixel does all of it: the affine map from the pixel of IM to the place in the digit is built first.

  n = size(px, 2);
  [cx, cy, shear] = slant(px);

  u = ((0:13)' + 0.5) / 14 * 9 - 4.5;  % 14 x 14 pixels see 9 x 9 pixels of the digit, around its centre of mass
  ux = repmat(u, 14, 1);
  uy = kron(u, ones(14, 1));
  rx = (cos(aug.angle) .* ux - sin(aug.angle) .* uy) ./ aug.scale;
  ry = (sin(aug.angle) .* ux + cos(aug.angle) .* uy) ./ aug.scale;
  x = rx + ry .* shear + (cx + aug.dx);
  y = ry + (cy + aug.dy);

  im = smooth(look_up(px, x, y), n);
end

function [cx, cy, shear] = slant(px)
  % Centre of mass of each digit, and how far it leans: the shear that makes the covariance of its x and y zero.
  x = repmat((0:7)', 8, 1);
  y = kron((0:7)', ones(8, 1));
  mass = max(sum(px, 1), 1e-12);  % an empty image stays empty instead of becoming NaN
  cx = (x' * px) ./ mass;
  cy = (y' * px) ./ mass;
  cxy = ((x .* y)' * px) ./ mass - cx .* cy;
  cyy = ((y .* y)' * px) ./ mass - cy .* cy;
  shear = cxy ./ (cyy + 1e-3);
end

function v = look_up(px, x, y)
  % Bilinear interpolation of column j of PX at (X(:,j), Y(:,j)), in pixels from 0; outside the digit is 0.
  n = size(px, 2);
  padded = zeros(12, 12, n);  % two pixels of margin, so that no look-up needs a test for the border
  padded(3:10, 3:10, :) = reshape(px, 8, 8, n);
  x = min(max(x + 2, 0), 11);
  y = min(max(y + 2, 0), 11);
  x0 = min(floor(x), 10);
  y0 = min(floor(y), 10);
  fx = x - x0;
  fy = y - y0;
  at = x0 + 12 * y0 + (1 + 144 * (0:n - 1));
  top = padded(at) .* (1 - fx) + padded(at + 1) .* fx;
  bottom = padded(at + 12) .* (1 - fx) + padded(at + 13) .* fx;
  v = top .* (1 - fy) + bottom .* fy;
end

function im = smooth(im, n)
  % A light blur, weights 1/24, 22/24, 1/24 along x and along y: takes the edges off the bilinear facets.
  im = reshape(im, 14, 14, n);
  out = im * (22 / 24);
  out(2:14, :, :) = out(2:14, :, :) + im(1:13, :, :) / 24;
  out(1:13, :, :) = out(1:13, :, :) + im(2:14, :, :) / 24;
  im = out * (22 / 24);
  im(:, 2:14, :) = im(:, 2:14, :) + out(:, 1:13, :) / 24;
  im(:, 1:13, :) = im(:, 1:13, :) + out(:, 2:14, :) / 24;
  im = reshape(im, 196, n);
end
