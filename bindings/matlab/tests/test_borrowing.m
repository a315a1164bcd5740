% SPDX-License-Identifier: Apache-2.0

function cases = test_borrowing()
  % Octave's oct-file shares memory; the MEX file copies, and counts that.
  if strcmp(getfield(warpool.version(), 'gateway'), 'oct')
    cases = {@shares_the_memory, @every_class_is_shared, @values_made_of_it_share, @writing_copies_first, @every_way_of_writing, ...
      @mapping_goes_with_the_value, @fields_are_shared, @two_thousand_gets, @many_values_at_once, @small_ones_are_plain, ...
      @publish_keeps_the_pages, @outlives_its_name_and_session, @clear_all, @counts_what_it_copies};
  else
    cases = {@one_counted_copy_each_way};
  end
end

function lines = shared_mappings()
  % Mappings of published items. Those that can be written are arrays being filled, and spare memory that the library keeps for them.
  text = fileread('/proc/self/maps');
  lines = regexp(text, '[^\n]* r--[ps] [^\n]*memfd:[^\n]*', 'match');
end

function line = mapping_of(x)
  % The mapping that the elements of X lie in, '' if it is no shared memory.
  address = warpool_gateway('address', x);
  line = '';
  for candidate = regexp(fileread('/proc/self/maps'), '[^\n]*memfd:[^\n]*', 'match')
    bounds = regexp(candidate{1}, '^([0-9a-f]+)-([0-9a-f]+)', 'tokens', 'once');
    if address >= hex(bounds{1}) && address < hex(bounds{2})
      line = candidate{1};
    end
  end
end

function n = hex(digits)
  n = uint64(0);
  for d = digits
    n = n * 16 + uint64(hex2dec(d));
  end
end

function yes = same_place(a, b)
  yes = warpool_gateway('address', a) == warpool_gateway('address', b);
end

function shares_the_memory()
  warpool.put('b/x', rand(500));
  x = warpool.get('b/x');
  line = mapping_of(x);
  assert(~isempty(line))
  assert(~isempty(regexp(line, ' r--[ps] ', 'once')), line)
  y = warpool.get('b/x');
  assert(isequal(inode(mapping_of(y)), inode(line)))
end

function i = inode(line)
  fields = strsplit(line, ' ');
  i = fields{5};
end

function every_class_is_shared()
  for class_name = {'double', 'single', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'logical', ...
      'complex double', 'complex single'}
    warpool.put('b/x', sample(class_name{1}, [401 250]));
    x = warpool.get('b/x');
    assert(~isempty(mapping_of(x)), class_name{1})
  end
  warpool.put('b/x', repmat('text', 1, 50000));
  x = warpool.get('b/x');
  assert(~isempty(mapping_of(x)), 'text')
  warpool.put('b/x', complex(ones(300), zeros(300)));
  x = warpool.get('b/x');
  assert(iscomplex(x) && ~isempty(mapping_of(x)), 'complex without imaginary part')
end

function values_made_of_it_share()
  warpool.put('b/x', rand(500));
  x = warpool.get('b/x');
  y = x;
  c = {x};
  s.field = x;
  assert(same_place(x, y) && same_place(x, c{1}) && same_place(x, s.field))
  assert(same_place(x, reshape(x, 250, 1000)) && same_place(x, x(:)) && same_place(x, x(:, 1)))
  assert(warpool_gateway('address', x(:, 2)) == warpool_gateway('address', x) + 4000)
end

function writing_copies_first()
  original = rand(500);
  warpool.put('b/x', original);
  x = warpool.get('b/x');
  y = x;
  x(1) = -1;
  assert(isempty(mapping_of(x)) && ~isempty(mapping_of(y)))
  expect_same(y, original, 'the other value');
  expect_same(warpool.get('b/x'), original, 'what is published');
  y(:) = 0;
  expect_same(warpool.get('b/x'), original, 'what is published');
end

function every_way_of_writing()
  original = sample('double', [300 300]);
  original(isnan(original)) = 0;
  warpool.put('b/x', original);
  % As text, so that Octave-only operators do not keep MATLAB from reading this file.
  ways = {'x(3) = 1;', 'x += 1;', 'x++;', 'x(:) = 0;', 'x(:, 5) = [];', 'x(400, 400) = 1;', 'x = -x;', 'x = x''; x(1) = 5;', ...
    'x(x > 5) = 0;', 'x = sort(x); x(1) = 9;', 'x .*= 2;', 'x(:, 1) += 1;', 'for c = x, c(1) = 7; end', 'x = abs(x); x(2) = 1;', ...
    'x = reshape(x, 100, 900); x(1) = 3;', 'c = {x}; clear x; c{1}(1) = 4;', 's.x = x; clear x; s.x(2, 2) = 4;', ...
    'x = cumsum(x); x(1) = 0;', 'x = circshift(x, 1); x(1) = 2;', 'x = fix(x); x(3) = 2;', 'x = max(x, 0); x(4) = 2;', 'x = !x;'};
  for k = 1:numel(ways)
    apply_way(ways{k});
    expect_same(warpool.get('b/x'), original, ways{k});
  end
end

function apply_way(way)
  x = warpool.get('b/x'); %#ok<NASGU>
  eval(way);
end

function mapping_goes_with_the_value()
  warpool.ping();
  before = numel(shared_mappings());
  warpool.put('b/x', rand(500));
  warpool.ping();
  before = numel(shared_mappings());
  x = warpool.get('b/x');
  y = x(:, 1:100); %#ok<NASGU>
  assert(numel(shared_mappings()) == before + 1)
  clear x
  warpool.ping();
  assert(numel(shared_mappings()) == before + 1) % y lies in it
  clear y
  warpool.ping();
  assert(numel(shared_mappings()) == before)
  assert(warpool_gateway('sweep') == 0)
end

function fields_are_shared()
  warpool.put('b/s', struct('a', rand(200), 'inner', struct('b', int16(ones(300)), 't', 'text'), 'n', 5));
  before = numel(shared_mappings());
  s = warpool.get('b/s');
  assert(numel(shared_mappings()) == before + 1)
  assert(~isempty(mapping_of(s.a)) && isequal(mapping_of(s.a), mapping_of(s.inner.b)))
  b = s.inner.b;
  clear s
  warpool.ping();
  assert(numel(shared_mappings()) == before + 1 && all(b(:) == 1))
  clear b
  warpool.ping();
  assert(numel(shared_mappings()) == before)
end

function n = open_files()
  n = numel(readdir('/proc/self/fd'));
end

function two_thousand_gets()
  warpool.put('b/x', rand(200));
  x = warpool.get('b/x'); %#ok<NASGU>
  clear x
  warpool.ping();
  mappings = numel(shared_mappings());
  files = open_files();
  for k = 1:2000
    x = warpool.get('b/x');
    assert(x(1) >= 0)
  end
  clear x
  warpool.ping();
  assert(numel(shared_mappings()) == mappings && open_files() == files)
end

function many_values_at_once()
  % More than one call looks at: the sweep gets around to all of them.
  warpool.put('b/x', rand(100));
  warpool.ping();
  mappings = numel(shared_mappings());
  values = cell(1, 1500);
  for k = 1:numel(values)
    values{k} = warpool.get('b/x');
  end
  assert(isequal(values{1}, values{end}))
  values(2:2:end) = [];
  for k = 1:5
    warpool.ping();
  end
  assert(numel(shared_mappings()) == mappings + 750)
  clear values
  for k = 1:5
    warpool.ping();
  end
  assert(numel(shared_mappings()) == mappings)
end

function small_ones_are_plain()
  warpool.put('b/x', 1:100);
  mappings = numel(shared_mappings());
  x = warpool.get('b/x');
  assert(isempty(mapping_of(x)) && numel(shared_mappings()) == mappings && warpool_gateway('sweep') == 0)
  x(1) = 5;
  assert(isequal(warpool.get('b/x'), 1:100))
end

function publish_keeps_the_pages()
  h = warpool.create('b/h', [500 500]);
  h(:) = 3;
  line = mapping_of(h);
  assert(~isempty(line))
  before = warpool.stats();
  warpool.publish(h);
  x = warpool.get('b/h');
  after = warpool.stats();
  assert(isequal(inode(mapping_of(x)), inode(line)))
  assert(all(x(:) == 3))
  assert(after.bytes_shared == before.bytes_shared + 2e6)
end

function outlives_its_name_and_session()
  warpool.put('b/x', rand(500));
  x = warpool.get('b/x');
  total = sum(x(:));
  warpool.rm('b/x');
  warpool.disconnect();
  assert(sum(x(:)) == total && ~isempty(mapping_of(x)))
  warpool.ping();
  assert(sum(x(:)) == total)
end

function clear_all()
  % "clear all" unloads no code that values point into.
  warpool.put('b/x', rand(500));
  x = warpool.get('b/x');
  clear functions
  assert(numel(x) == 250000 && sum(x(:)) > 0)
  warpool.ping();
end

function counts_what_it_copies()
  before = warpool.stats();
  warpool.put('b/s', struct('one', 7, 'big', rand(200)));
  x = warpool.get('b/s'); %#ok<NASGU>
  after = warpool.stats();
  assert(after.copied_bytes_convert - before.copied_bytes_convert == 8) % 1 x 1 becomes a scalar
  before = after;
  warpool.put('b/s', sparse(1:20000, 1:20000, 1));
  x = warpool.get('b/s'); %#ok<NASGU>
  after = warpool.stats();
  assert(after.copied_bytes_convert - before.copied_bytes_convert == 20000 * 16 + 20001 * 8)
end

function one_counted_copy_each_way()
  before = warpool.stats();
  warpool.put('b/x', rand(500));
  x = warpool.get('b/x'); %#ok<NASGU>
  after = warpool.stats();
  assert(after.copied_bytes_put == before.copied_bytes_put + 2e6)
  assert(after.copied_bytes_gateway == before.copied_bytes_gateway + 2e6)
  warpool.put('b/x', complex(rand(500), rand(500)));
  x = warpool.get('b/x'); %#ok<NASGU>
  last = warpool.stats();
  copied = last.copied_bytes_put + last.copied_bytes_gateway - after.copied_bytes_put - after.copied_bytes_gateway;
  assert(copied == 8e6)
  assert(last.copied_bytes_convert == before.copied_bytes_convert)
end
