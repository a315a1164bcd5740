% SPDX-License-Identifier: Apache-2.0

function cases = test_catalogue()
  % Everything but the arrays themselves: names, facts, rights, files, events, sessions, errors.
  cases = {@versions, @listing, @facts_of_items, @removing, @modes, @time_to_live, @attributes, @files, @watching, @waiting, @errors, ...
    @option_errors, @sessions_and_counters, @labels, @version_names_the_gateway};
end

function versions()
  first = warpool.put('v/x', 1);
  second = warpool.put('v/x', 2);
  assert(second > first && warpool.get('v/x') == 2)
  assert(warpool.get('v/x', 'version', second) == 2)
  expect_error('warpool:not_found', @() warpool.get('v/x', 'version', first));
  expect_error('warpool:not_found', @() warpool.rm('v/x', 'version', first));
  warpool.rm('v/x', 'version', second);
  assert(warpool.put('v/x', 3) > second)
end

function listing()
  warpool.put('l/b', 1);
  warpool.put('l/a', 'text');
  warpool.put('l/sub/c', sparse(1));
  items = warpool.ls('l/*');
  assert(isequal({items.name}, {'l/a', 'l/b', 'l/sub/c'}))
  assert(isequal({items.class}, {'char', 'double', 'double'}))
  none = warpool.ls('l/nothing*');
  assert(isempty(none) && isequal(fieldnames(none), fieldnames(items)))
  table = evalc('warpool.ls(''l/*'')');
  assert(~isempty(strfind(table, 'l/sub/c')) && ~isempty(strfind(table, 'sparse')))
  assert(~isempty(strfind(evalc('warpool.ls(''l/none'')'), 'nothing')))
end

function facts_of_items()
  warpool.put('f/x', single(reshape(1:24, 2, 3, 4)));
  item = warpool.info('f/x');
  assert(strcmp(item.name, 'f/x') && strcmp(item.class, 'single') && strcmp(item.dtype, 'float32'))
  assert(isequal(item.size, [2 3 4]) && isequal(item.shape, [2 3 4]) && isequal(item.strides, [4 8 24]))
  assert(strcmp(item.mode, '0600') && item.expires_in == Inf && item.maker_alive && strcmp(item.maker_label, 'tests'))
  assert(item.inline && ~item.removed && isa(item.id, 'uint64') && item.bytes == 96)
  assert(item.created > 1.6e9)
  warpool.put('f/x', zeros(200));
  assert(~getfield(warpool.info('f/x'), 'inline'))
end

function removing()
  warpool.put('r/x', 1);
  warpool.rm('r/x');
  expect_error('warpool:not_found', @() warpool.get('r/x'));
  expect_error('warpool:not_found', @() warpool.rm('r/x'));
end

function modes()
  for pair = {'0640', '0640'; 'rw-r--r--', '0644'; '600', '0600'}'
    warpool.put('m/x', 1, 'mode', pair{1});
    assert(strcmp(getfield(warpool.info('m/x'), 'mode'), pair{2}))
    warpool.put('m/y', 1);
    warpool.chmod('m/y', pair{1});
    assert(strcmp(getfield(warpool.info('m/y'), 'mode'), pair{2}))
  end
  for bad = {640, '0888', 'rwx', 'r-xr-xr-y'}
    expect_error('warpool:invalid_argument', @() warpool.put('m/x', 1, 'mode', bad{1}));
    expect_error('warpool:invalid_argument', @() warpool.chmod('m/x', bad{1}));
  end
end

function time_to_live()
  warpool.put('e/x', 1, 'ttl', 0.2);
  assert(getfield(warpool.info('e/x'), 'expires_in') <= 0.2)
  pause(0.6);
  expect_error('warpool:not_found', @() warpool.get('e/x'));
  warpool.put('e/y', 1);
  warpool.expire('e/y', 100);
  assert(getfield(warpool.info('e/y'), 'expires_in') <= 100)
  warpool.expire('e/y', Inf);
  assert(getfield(warpool.info('e/y'), 'expires_in') == Inf)
  expect_error('warpool:invalid_argument', @() warpool.expire('e/y', 0));
  expect_error('warpool:invalid_argument', @() warpool.put('e/y', 1, 'ttl', -1));
end

function attributes()
  warpool.put('a/x', 1, 'attrs', struct('unit', 'mV', 'rate', 360, 'ok', true));
  attrs = getfield(warpool.info('a/x'), 'attrs');
  assert(strcmp(attrs.unit, 'mV') && attrs.rate == 360 && attrs.ok)
  warpool.put('a/x', 1);
  assert(isempty(fieldnames(getfield(warpool.info('a/x'), 'attrs'))))
  h = warpool.create('a/y', [2 2], 'double', 'attrs', struct('k', 1), 'mode', '0644');
  warpool.publish(h);
  item = warpool.info('a/y');
  assert(item.attrs.k == 1 && strcmp(item.mode, '0644'))
  expect_error('warpool:invalid_argument', @() warpool.put('a/x', 1, 'attrs', 5));
end

function files()
  file = [tempname() '.npy'];
  x = reshape(single(1:60), 3, 4, 5);
  warpool.put('s/x', x);
  warpool.save('s/x', file);
  assert(warpool.load(file, 's/y', 'mode', '0644') > 0)
  expect_same(warpool.get('s/y'), x, 'from .npy');
  assert(strcmp(getfield(warpool.info('s/y'), 'mode'), '0644'))
  delete(file);
  file = [tempname() '.wpool'];
  s = struct('a', magic(4), 'name', 'text');
  warpool.put('s/s', s);
  warpool.save('s/s', file);
  warpool.load(file, 's/t');
  expect_same(warpool.get('s/t'), s, 'from .wpool');
  delete(file);
  expect_error('warpool:not_found', @() warpool.load(file, 's/u'));
end

function watching()
  warpool.put('w/a', 1);
  w = warpool.watch('w/*', 'existing', true);
  event = next(w, 5);
  assert(strcmp(event.kind, 'published') && strcmp(event.name, 'w/a'))
  assert(isempty(next(w, 0.05)))
  version = warpool.put('w/b', 2);
  event = next(w, 5);
  assert(strcmp(event.name, 'w/b') && event.version == version)
  warpool.rm('w/b');
  event = next(w, 5);
  assert(strcmp(event.kind, 'removed') && strcmp(event.name, 'w/b'))
  warpool.put('elsewhere', 1);
  assert(isempty(next(w, 0.05)))
  delete(w);
  for k = 1:100
    w = warpool.watch('w/*'); % each one closes the one before
  end
  warpool.put('w/c', 1);
  assert(strcmp(getfield(next(w, 5), 'name'), 'w/c'))
  warpool.disconnect();
  expect_error('warpool:lost', @() next(w, 0.1));
end

function waiting()
  started = tic;
  message = expect_error('warpool:timed_out', @() warpool.get('never', 'wait', 0.7));
  assert(toc(started) >= 0.65 && toc(started) < 5)
  assert(~isempty(strfind(message, '0.7')), message)
  expect_error('warpool:not_found', @() warpool.get('never', 'wait', 0));
  expect_error('warpool:not_found', @() warpool.get('never', 'wait', false));
  warpool.put('here', 5);
  assert(warpool.get('here', 'wait', true) == 5 && warpool.get('here', 'wait', Inf) == 5)
end

function errors()
  expect_error('warpool:not_found', @() warpool.get('no/such'));
  expect_error('warpool:invalid_argument', @() warpool.get('bad//name'));
  expect_error('warpool:invalid_argument', @() warpool.put('', 1));
  expect_error('warpool:invalid_argument', @() warpool.get(5));
  expect_error('warpool:invalid_argument', @() warpool.put(5, 5));
  message = expect_error('warpool:not_found', @() warpool.info('no/such'));
  assert(~isempty(strfind(message, 'no/such')), message)
end

function option_errors()
  message = expect_error('warpool:invalid_argument', @() warpool.get('x', 'patience', 1));
  assert(~isempty(strfind(message, 'wait')), message)
  expect_error('warpool:invalid_argument', @() warpool.get('x', 'wait'));
  expect_error('warpool:invalid_argument', @() warpool.get('x', 5, 1));
  expect_error('warpool:invalid_argument', @() warpool.get('x', 'wait', -1));
  expect_error('warpool:invalid_argument', @() warpool.get('x', 'wait', 'long'));
end

function sessions_and_counters()
  before = warpool.stats();
  warpool.put('n/x', zeros(300));
  x = warpool.get('n/x'); %#ok<NASGU>
  after = warpool.stats();
  assert(after.arrays_published == before.arrays_published + 1 && after.arrays_got == before.arrays_got + 1)
  assert(after.bytes_got == before.bytes_got + 720000)
  assert(after.copied_bytes_put == before.copied_bytes_put + 720000)
  list = warpool.sessions();
  assert(any([list.session] == after.session) && all(~cellfun(@isempty, {list.language})))
  broker = warpool.status();
  assert(broker.sessions >= 1 && broker.memory_limit > 0 && ischar(broker.socket))
  warpool.ping();
end

function labels()
  before = warpool.stats();
  warpool.connect('a label');
  own = warpool.stats();
  assert(strcmp(own.label, 'a label') && own.session ~= before.session)
  warpool.disconnect();
  assert(strcmp(getfield(warpool.stats(), 'label'), 'tests'))
  expect_error('warpool:no_broker', @() warpool.connect('x', 'socket', '/nonexistent/w.sock', 'start', false));
  assert(strcmp(getfield(warpool.stats(), 'label'), 'tests'))
end

function version_names_the_gateway()
  facts = warpool.version();
  wanted = getenv('WARPOOL_GATEWAY');
  assert(isempty(wanted) || strcmp(facts.gateway, wanted))
  assert(~isempty(strfind(evalc('warpool.version'), facts.gateway)))
  assert(~isempty(regexp(facts.warpool, '^\d+\.\d+\.\d+$', 'once')))
end
