% SPDX-License-Identifier: Apache-2.0
% Computes features of the digits that publish.py publishes, and publishes them in batches: each training digit appears in each batch,
% changed a little, and train.py learns from one batch while the next one is computed.
%
% DIGITS_BATCHES says how many batches (20), DIGITS_OUT where the timeline goes.

batches = number_from_environment('DIGITS_BATCHES', 20);
copies = 2;    % of each digit in a batch, each changed in a way of its own
block = 128;   % digits at a time: their images stay in the processor's cache
quiet_end();
timeline('features', 'start');
warpool.put('digits/batches', batches);

asked = seconds_now();
train = warpool.get('digits/pixels/train', 'wait', 60);
timeline('features', 'received', 'name', 'digits/pixels/train', 'asked', asked, 'bytes', 8 * numel(train));
n = size(train, 2);
basis = fit_basis(train);

for b = 1:batches
  name = sprintf('digits/batch%03d', b);
  began = seconds_now();
  h = warpool.create(name, [600, copies * n], 'double');
  spent = seconds_now() - began;
  for c = 1:copies
    for first = 1:block:n
      digits = first:min(first + block - 1, n);
      aug = augmentation(change_numbers(digits, (b - 1) * copies + c, n));
      h(:, (c - 1) * n + digits) = digit_features(train(:, digits), aug, basis);
    end
  end
  since = seconds_now() - spent;  % creating the array belongs to handing it over
  warpool.publish(h);
  timeline('features', 'published', 'name', name, 'since', since, 'bytes', 8 * 600 * copies * n);
end

% The test digits come last, unchanged; mean and components are those of the training digits.
asked = seconds_now();
test = warpool.get('digits/pixels/test', 'wait', 60);
timeline('features', 'received', 'name', 'digits/pixels/test', 'asked', asked, 'bytes', 8 * numel(test));
f = digit_features(test, augmentation(0), basis);
since = seconds_now();
h = warpool.create('digits/test', size(f), 'double');
h(:, :) = f;
warpool.publish(h);
timeline('features', 'published', 'name', 'digits/test', 'since', since, 'bytes', 8 * numel(f));
timeline('features', 'end');
fprintf('%d batches of %d columns, %.0f MB\n', batches, copies * n, batches * 600 * copies * n * 8 / 1e6);
