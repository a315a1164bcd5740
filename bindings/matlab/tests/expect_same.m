% SPDX-License-Identifier: Apache-2.0

function expect_same(actual, expected, what)
  % EXPECT_SAME(ACTUAL, EXPECTED, WHAT)  Fails unless class, size, complexity and every bit agree.
  if ~strcmp(class(actual), class(expected))
    error('%s: class %s instead of %s', what, class(actual), class(expected));
  end
  if ~isequal(size(actual), size(expected))
    error('%s: size [%s] instead of [%s]', what, num2str(size(actual)), num2str(size(expected)));
  end
  if isstruct(expected)
    if ~isequal(fieldnames(actual), fieldnames(expected))
      error('%s: fields %s instead of %s', what, strjoin(fieldnames(actual)', ','), strjoin(fieldnames(expected)', ','));
    end
    for name = fieldnames(expected)'
      expect_same(actual.(name{1}), expected.(name{1}), [what '.' name{1}]);
    end
    return
  end
  if issparse(actual) ~= issparse(expected) || isreal(actual) ~= isreal(expected)
    error('%s: sparse %d instead of %d, real %d instead of %d', what, issparse(actual), issparse(expected), isreal(actual), isreal(expected));
  end
  if issparse(expected)
    [i, j, v] = find(actual);
    [k, l, w] = find(expected);
    same = isequal(i, k) && isequal(j, l) && isequal(v, w);
  elseif isfloat(expected)
    same = isequal(bits(real(actual)), bits(real(expected))) && isequal(bits(imag(actual)), bits(imag(expected)));
  else
    same = isequal(actual, expected);
  end
  if ~same
    error('%s: the elements differ', what);
  end
end

function b = bits(x)
  % Tells -0 from 0 and one NaN from another.
  if isa(x, 'double')
    b = typecast(x(:), 'uint64');
  else
    b = typecast(x(:), 'uint32');
  end
end
