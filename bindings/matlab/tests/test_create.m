% SPDX-License-Identifier: Apache-2.0

function cases = test_create()
  % Arrays that are filled in shared memory behave as plain ones do.
  cases = {@fill_by_columns, @starts_as_zeros, @random_assignments, @reading, @queries, @converts_to_its_class, @refuses_what_does_not_fit, ...
    @complex_values, @publish_is_final, @discard_and_drop_free_the_memory, @copies_are_one_array, @no_copy_is_counted, @bad_arguments, ...
    @ends_with_its_session};
end

function names = all_classes()
  names = {'double', 'single', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'logical', ...
    'complex double', 'complex single'};
end

function fill_by_columns()
  for class_name = all_classes()
    x = sample(class_name{1}, [300 200]);
    h = warpool.create('c/x', [300 200], class_name{1});
    for k = 1:200
      h(:, k) = x(:, k);
    end
    assert(warpool.publish(h) > 0)
    expect_same(warpool.get('c/x'), x, class_name{1});
  end
end

function starts_as_zeros()
  h = warpool.create('c/x', [200 100 2], 'int16');
  warpool.publish(h);
  expect_same(warpool.get('c/x'), zeros(200, 100, 2, 'int16'), 'zeros');
end

function s = subscript(extent)
  % One of the ways to select part of a dimension.
  switch randi(6)
    case 1
      s = ':';
    case 2
      s = randi(extent);
    case 3
      a = sort(randi(extent, 1, 2));
      s = a(1):a(2);
    case 4
      s = randperm(extent, randi(extent));
    case 5
      s = rand(1, extent) > 0.5;
    otherwise
      s = extent:-2:1;
  end
end

function random_assignments()
  % Against a plain array that is treated the same way.
  shapes = {[7 9], [1 12], [12 1], [4 3 5], [2 3 2 2]};
  seed = 20261201;
  rand('twister', seed); %#ok<RAND>
  randi(1);
  for round = 1:400
    shape = shapes{randi(numel(shapes))};
    class_name = all_classes();
    class_name = class_name{randi(numel(class_name))};
    h = warpool.create('c/r', shape, class_name);
    x = sample(class_name, shape);
    h(:) = x;
    for step = 1:4
      count = randi(numel(shape));
      extents = [shape(1:count - 1), prod(shape(count:end))];
      subs = cell(1, count);
      for d = 1:count
        subs{d} = subscript(extents(d));
      end
      selected = x(subs{:});
      if rand() < 0.3
        value = sample(class_name, [1 4]);
        value = value(3);
      else
        value = selected(end:-1:1);
        value = reshape(value, size(selected));
      end
      x(subs{:}) = value;
      h(subs{:}) = value;
      expect_same(as_class(h(subs{:}), class_name), as_class(x(subs{:}), class_name), sprintf('round %d (seed %d): read back', round, seed));
    end
    warpool.publish(h);
    expect_same(warpool.get('c/r'), as_class(x, class_name), sprintf('round %d (seed %d): %s [%s]', round, seed, class_name, num2str(shape)));
  end
end

function x = as_class(x, class_name)
  % Indexing and assignment make complex values real that have no imaginary part.
  if strncmp(class_name, 'complex', 7)
    x = complex(x);
  end
end

function reading()
  x = reshape(1:24, 2, 3, 4);
  h = warpool.create('c/x', [2 3 4]);
  h(:) = x;
  expect_same(h(2, 3, 4), 24, 'element');
  expect_same(h(end), 24, 'end');
  expect_same(h(end, 1), 2, 'end of a dimension');
  expect_same(h(1, end), x(1, end), 'end of several dimensions');
  expect_same(h(:, :, 2), x(:, :, 2), 'page');
  expect_same(h(:), x(:), 'colon');
  expect_same(h([1 2; 3 4]), [1 2; 3 4], 'matrix of indices');
  expect_same(h(x > 20), [21; 22; 23; 24], 'mask');
  expect_error('warpool:invalid_argument', @() h(3, 1, 1));
  expect_error('warpool:invalid_argument', @() h(25));
  warpool.discard(h);
end

function queries()
  h = warpool.create('c/x', [2 3 4], 'int8');
  assert(isequal(size(h), [2 3 4]) && numel(h) == 24 && ndims(h) == 3 && ~isempty(h))
  assert(size(h, 1) == 2 && size(h, 3) == 4)
  [rows, columns] = size(h);
  assert(rows == 2 && columns == 12)
  h = warpool.create('c/x', 5);
  assert(isequal(size(h), [5 5]))
  warpool.discard(h);
end

function converts_to_its_class()
  h = warpool.create('c/x', [1 4], 'uint8');
  h(:) = [1.4 1.6 300 -5];
  expect_same(h(:)', uint8([1 2 255 0]), 'saturated and rounded');
  h(2) = true;
  h(3) = 'a';
  expect_same(h(:)', uint8([1 1 97 0]), 'logical and char');
  h = warpool.create('c/x', [1 2], 'double');
  h(1) = int32(7);
  h(2) = single(0.5);
  expect_same(h(:)', [7 0.5], 'to double');
end

function refuses_what_does_not_fit()
  h = warpool.create('c/x', [3 4]);
  function assign(varargin)
    value = varargin{end};
    h(varargin{1:end-1}) = value;
  end
  expect_error('warpool:invalid_argument', @() assign(4, 1, 5));
  expect_error('warpool:invalid_argument', @() assign(13, 5));
  expect_error('warpool:invalid_argument', @() assign(1, 1, 2, 5));
  expect_error('warpool:invalid_argument', @() assign(':', 1, [1 2]));
  expect_error('warpool:invalid_argument', @() assign(':', ':', ones(4, 3)));
  expect_error('warpool:invalid_argument', @() assign(':', [1 2 3 4 5]));
  expect_error('warpool:invalid_argument', @() assign(1, {5}));
  expect_error('warpool:invalid_argument', @() assign(1, 1 + 2i));
  expect_error('warpool:invalid_argument', @() assign(1, []));
  expect_same(h(:, :), zeros(3, 4), 'nothing was written');
  warpool.discard(h);
end

function complex_values()
  h = warpool.create('c/x', [2 2], 'complex double');
  h(:, 1) = [1 + 2i; 3];
  h(1, 2) = 5;
  h(2, 2) = 1i;
  warpool.publish(h);
  expect_same(warpool.get('c/x'), complex([1 5; 3 0], [2 0; 0 1]), 'complex');
end

function publish_is_final()
  h = warpool.create('c/x', [2 2]);
  warpool.publish(h);
  expect_error('warpool:conflict', @() warpool.publish(h));
  expect_error('warpool:conflict', @() h(1));
  function assign()
    h(1) = 1;
  end
  expect_error('warpool:conflict', @assign);
  warpool.discard(h);
  expect_same(warpool.get('c/x'), zeros(2), 'still there');
end

function discard_and_drop_free_the_memory()
  before = getfield(warpool.status(), 'memory_drafts');
  h = warpool.create('c/gone', [1000 1000]);
  assert(getfield(warpool.status(), 'memory_drafts') >= before + 8e6)
  warpool.discard(h);
  assert(getfield(warpool.status(), 'memory_drafts') == before)
  h = warpool.create('c/gone', [1000 1000]);
  h(1) = 1;
  assert(getfield(warpool.status(), 'memory_drafts') >= before + 8e6)
  h = 0; %#ok<NASGU>
  assert(getfield(warpool.status(), 'memory_drafts') == before)
  fill_and_leave();
  assert(getfield(warpool.status(), 'memory_drafts') == before)
  assert(isempty(warpool.ls('c/gone')))
end

function fill_and_leave()
  h = warpool.create('c/gone', [1000 1000]);
  h(:, 1) = 1;
end

function copies_are_one_array()
  h = warpool.create('c/x', [1 3]);
  g = h;
  g(2) = 5;
  h(3) = 7;
  expect_same(h(:)', [0 5 7], 'both wrote');
  c = {h};
  c{1}(1) = 2;
  expect_same(h(:)', [2 5 7], 'the one in the cell, too');
  warpool.publish(g);
  expect_error('warpool:conflict', @() h(1));
end

function no_copy_is_counted()
  before = total_copies();
  h = warpool.create('c/x', [1000 1000]);
  for k = 1:1000
    h(:, k) = k;
  end
  warpool.publish(h);
  assert(total_copies() == before)
end

function bytes = total_copies()
  own = warpool.stats();
  bytes = 0;
  for name = fieldnames(own)'
    if strncmp(name{1}, 'copied_bytes_', 13)
      bytes = bytes + own.(name{1});
    end
  end
end

function bad_arguments()
  expect_error('warpool:invalid_argument', @() warpool.create('c/x', [2 2], 'quaternion'));
  expect_error('warpool:invalid_argument', @() warpool.create('c/x', [2 -1]));
  expect_error('warpool:invalid_argument', @() warpool.create('c/x', [2 1.5]));
  expect_error('warpool:invalid_argument', @() warpool.create('c/x', 'abc'));
  expect_error('warpool:invalid_argument', @() warpool.create('c//x', [2 2]));
  expect_error('warpool:invalid_argument', @() warpool.publish(5));
  expect_error('warpool:invalid_argument', @() warpool.publish('name'));
end

function ends_with_its_session()
  h = warpool.create('c/x', [2 2]);
  warpool.disconnect();
  expect_error('warpool:lost', @() h(1));
  expect_error('warpool:lost', @() warpool.publish(h));
end
