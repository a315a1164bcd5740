% SPDX-License-Identifier: Apache-2.0
function k = change_numbers(digits, copy, n)
  % K = CHANGE_NUMBERS(DIGITS, COPY, N)  Which change (see AUGMENTATION) the COPY-th copy of each of DIGITS gets, of N digits in all.
  %
  % The first copy is unchanged; after it no two digits of any copies get the same change.
  if copy == 1
    k = zeros(1, numel(digits));
  else
    k = (copy - 2) * n + digits;
  end
end
