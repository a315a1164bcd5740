% SPDX-License-Identifier: Apache-2.0

function x = sample(class_name, extents)
  % X = SAMPLE(CLASS, EXTENTS)  Values that differ from element to element, with the extreme ones of the class among them.
  count = prod(extents);
  n = (0:count - 1)';
  switch class_name
    case 'logical'
      x = mod(n, 3) == 1;
    case {'double', 'single'}
      x = (n - 7) / 3;
      special = [NaN; Inf; -Inf; -0; realmin(class_name); eps(class_name)];
      k = min(count, numel(special));
      x(1:k) = special(1:k);
      x = feval(class_name, x);
    case {'complex double', 'complex single'}
      x = complex(feval(class_name(9:end), n), feval(class_name(9:end), -n / 4));
    otherwise
      x = feval(class_name, mod(n, 100));
      special = [intmin(class_name); intmax(class_name); intmax(class_name) - 1];
      k = min(count, numel(special));
      x(1:k) = special(1:k);
  end
  x = reshape(x, extents);
end
