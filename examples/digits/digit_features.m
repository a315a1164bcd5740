% SPDX-License-Identifier: Apache-2.0
function f = digit_features(px, aug, basis)
  % F = DIGIT_FEATURES(PX, AUG, BASIS)  600 features of each digit: 588 of gradients, 12 principal components.
  %
  % PX     64 x n, one column a digit of 8 x 8 pixels (x runs fastest), from 0 to 1
  % AUG    the small change to apply first, from AUGMENTATION: the same for all, or one a digit
  % BASIS  from FIT_BASIS
  % F      600 x n

  im = warp_digits(px, aug);
  f = [gradient_histograms(im); basis.axes' * (im - basis.mean)];
end
