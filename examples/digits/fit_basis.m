% SPDX-License-Identifier: Apache-2.0
function basis = fit_basis(px)
  % BASIS = FIT_BASIS(PX)  The 12 principal components of the deskewed images of PX, which must be training digits only.
  %
  % The components are scaled by the first one's standard deviation, so that they weigh about as much as the histograms, and each is
  % given the sign that makes its largest entry positive: the sign of an eigenvector is otherwise up to the library that computes it.

  im = warp_digits(px, augmentation(0));
  basis.mean = mean(im, 2);
  im = im - basis.mean;
  [axes, variances] = eig(im * im' / size(im, 2));
  [variances, order] = sort(diag(variances), 'descend');
  axes = axes(:, order(1:12));
  for k = 1:12
    [~, at] = max(abs(axes(:, k)));
    axes(:, k) = axes(:, k) * sign(axes(at, k));
  end
  basis.axes = axes * (0.1 / sqrt(variances(1)));
end
