% SPDX-License-Identifier: Apache-2.0

function cases = test_types()
  % Every class in every shape comes back as it was put.
  cases = {@small_arrays, @large_arrays, @integers_beyond_2_to_53, @complex_stays_complex, @text, @char_matrices, @sparse_matrices, ...
    @structs, @ranges_and_special_matrices, @refusals_show_how_to_split, @field_names, @too_many_fields, @most_dimensions};
end

function names = all_classes()
  names = {'double', 'single', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'logical', ...
    'complex double', 'complex single'};
end

function round_trip(x, what)
  warpool.put('t/x', x);
  expect_same(warpool.get('t/x'), x, what);
end

function small_arrays()
  shapes = {[0 0], [1 1], [1 5], [5 1], [0 3], [3 0], [1 0], [3 4], [2 3 4], [2 1 3], [1 1 4], [2 3 1 2 2], [2 0 3]};
  for class_name = all_classes()
    for shape = shapes
      round_trip(sample(class_name{1}, shape{1}), sprintf('%s [%s]', class_name{1}, num2str(shape{1})));
    end
  end
end

function large_arrays()
  % More than 64 KiB of each class, so that they are shared memory.
  for class_name = all_classes()
    round_trip(sample(class_name{1}, [401 250]), [class_name{1} ' matrix']);
    round_trip(sample(class_name{1}, [3 1 7 5 1000]), [class_name{1} ' 5-d']);
    round_trip(sample(class_name{1}, [1 100003]), [class_name{1} ' row']);
  end
end

function integers_beyond_2_to_53()
  x = int64(2) ^ 53 + int64(1);
  assert(x - int64(2) ^ 53 == 1)
  round_trip(repmat([x; -x; intmax('int64')], 1, 5000), 'int64');
  round_trip([bitshift(uint64(1), 63) + 1; intmax('uint64')], 'uint64');
end

function complex_stays_complex()
  if strcmp(getenv('WARPOOL_GATEWAY'), 'mex')
    return % Octave makes such values real on their way out of a MEX file; MATLAB does not
  end
  for count = [1 3 20000]
    x = complex(ones(count, 1), zeros(count, 1));
    warpool.put('t/x', x);
    expect_same(warpool.get('t/x'), x, sprintf('%d complex numbers without imaginary part', count));
  end
end

function text()
  long = repmat('0123456789', 1, 20000);
  for x = {'hello', '', 'a', char([104 195 169]), ' spaces  ', long}
    round_trip(x{1}, 'text');
    item = warpool.info('t/x');
    assert(strcmp(item.kind, 'text') && strcmp(item.class, 'char'))
  end
end

function char_matrices()
  for x = {['abc'; 'def'], ['a'; 'b'], zeros(0, 3), zeros(1, 0), char(97 + mod(reshape(0:23, 2, 3, 4), 26)), repmat('ab', 70000, 1)}
    round_trip(char(x{1}), 'char matrix');
  end
  assert(strcmp(getfield(warpool.info('t/x'), 'kind'), 'chars'))
end

function sparse_matrices()
  big = sparse(1:20000, mod(7 * (1:20000), 500) + 1, (1:20000) / 7, 20000, 500);
  for x = {sparse([1 0 2; 0 3 0]), sparse(3, 4), sparse(0, 0), sparse(5, 0), sparse([0 1i; 2 0]), sparse(logical([1 0; 1 1])), big, ...
      big > 100, big * (1 + 2i)}
    round_trip(x{1}, 'sparse matrix');
    item = warpool.info('t/x');
    assert(strcmp(item.kind, 'sparse') && isequal(item.size, size(x{1})))
  end
  % Removed elements leave room that is not part of the value.
  x = big;
  x(1, :) = 0;
  round_trip(x, 'sparse matrix with spare room');
end

function structs()
  inner = struct('label', 'inner', 'flags', [true false], 'none', []);
  s = struct('x', magic(4), 'name', 'outer', 'inner', inner, 'map', sparse([0 2; 1 0]), 'z', 1 + 2i, 'big', rand(200, 200));
  round_trip(s, 'struct');
  round_trip(struct(), 'struct without fields');
  deep = struct('v', int8(1));
  for k = 1:30
    deep = struct('d', deep, 'k', k);
  end
  round_trip(deep, 'deep struct');
  warpool.put('t/s', s);
  assert(isequal(sort(getfield(warpool.info('t/s'), 'fields')(1:3)), sort({'x'; 'name'; 'inner'})))
end

function ranges_and_special_matrices()
  warpool.put('t/x', 1:5);
  expect_same(warpool.get('t/x'), [1 2 3 4 5], 'range');
  warpool.put('t/x', 0:0.5:20000);
  expect_same(warpool.get('t/x'), (0:40000) / 2, 'long range');
  warpool.put('t/x', eye(300));
  expect_same(warpool.get('t/x'), full(eye(300)) + 0, 'identity');
  p = eye(4);
  p = p([2 1 4 3], :);
  warpool.put('t/x', p);
  expect_same(warpool.get('t/x'), p + zeros(4), 'permutation');
end

function refusals_show_how_to_split()
  map = containers.Map();
  values = {{1, 2}, 'each element'; @sin, 'func2str'; struct('a', {1, 2}), 'each element'; map, 'fields'};
  for k = 1:size(values, 1)
    message = expect_error('warpool:invalid_argument', @() warpool.put('t/no', values{k, 1}));
    assert(~isempty(strfind(message, values{k, 2})), message)
    message = expect_error('warpool:invalid_argument', @() warpool.put('t/no', struct('good', 1, 'bad', {{values{k, 1}}})));
    assert(~isempty(strfind(message, '''bad''')), message)
  end
  h = warpool.create('t/draft', [2 2]);
  expect_error('warpool:invalid_argument', @() warpool.put('t/no', h));
  assert(isempty(warpool.ls('t/no')))
end

function field_names()
  s = struct();
  s.(repmat('a', 1, 63)) = 1;
  round_trip(s, 'longest field name');
  if exist('OCTAVE_VERSION', 'builtin')
    % MATLAB does not have such names to begin with.
    for name = {repmat('a', 1, 64), 'a b', '_x', 'a/b'}
      s = struct();
      s.(name{1}) = 1;
      message = expect_error('warpool:invalid_argument', @() warpool.put('t/no', s));
      assert(~isempty(strfind(message, 'rename')), message)
    end
  end
end

function too_many_fields()
  s = struct();
  for k = 1:255
    s.(sprintf('f%d', k)) = k;
  end
  round_trip(s, '255 fields');
  s.one_more = 1;
  message = expect_error('warpool:invalid_argument', @() warpool.put('t/no', s));
  assert(~isempty(strfind(message, '256')), message)
end

function most_dimensions()
  expect_error('warpool:invalid_argument', @() warpool.put('t/no', ones([ones(1, 32) 2])));
  x = ones([ones(1, 31) 2]);
  round_trip(x, '32 dimensions');
end
