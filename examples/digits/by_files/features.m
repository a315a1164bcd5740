% SPDX-License-Identifier: Apache-2.0
% features.m by files.

batches = number_from_environment('DIGITS_BATCHES', 20);
copies = 2;
block = 128;
quiet_end();
timeline('features', 'start');
write_array('digits/batches', batches);

asked = seconds_now();
train = read_array('digits/pixels/train', 60);
timeline('features', 'received', 'name', 'digits/pixels/train', 'asked', asked, 'bytes', 8 * numel(train));
n = size(train, 2);
basis = fit_basis(train);

for b = 1:batches
  name = sprintf('digits/batch%03d', b);
  f = zeros(600, copies * n);
  for c = 1:copies
    for first = 1:block:n
      digits = first:min(first + block - 1, n);
      aug = augmentation(change_numbers(digits, (b - 1) * copies + c, n));
      f(:, (c - 1) * n + digits) = digit_features(train(:, digits), aug, basis);
    end
  end
  since = seconds_now();
  write_array(name, f);
  timeline('features', 'published', 'name', name, 'since', since, 'bytes', 8 * numel(f));
end

asked = seconds_now();
test = read_array('digits/pixels/test', 60);
timeline('features', 'received', 'name', 'digits/pixels/test', 'asked', asked, 'bytes', 8 * numel(test));
f = digit_features(test, augmentation(0), basis);
since = seconds_now();
write_array('digits/test', f);
timeline('features', 'published', 'name', 'digits/test', 'since', since, 'bytes', 8 * numel(f));
timeline('features', 'end');
fprintf('%d batches of %d columns, %.0f MB\n', batches, copies * n, batches * 600 * copies * n * 8 / 1e6);
