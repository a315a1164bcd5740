% SPDX-License-Identifier: Apache-2.0

function result = patiently(wait_ms, call)
  % RESULT = CALL(WAIT_MS), in slices where the gateway cannot tell that Ctrl-C was pressed: between slices the interpreter can.
  persistent slice_ms
  if isempty(slice_ms)
    facts = warpool_gateway('version');
    slice_ms = Inf;
    if strcmp(facts.gateway, 'mex')
      slice_ms = 250;
    end
  end
  if wait_ms >= 0 && wait_ms <= slice_ms || isinf(slice_ms)
    result = call(wait_ms);
    return
  end
  started = tic;
  while true
    left_ms = Inf;
    if wait_ms >= 0
      left_ms = max(1, wait_ms - ceil(toc(started) * 1000));
    end
    try
      result = call(min(left_ms, slice_ms));
      return
    catch failure
      is_over = ~any(strcmp(failure.identifier, {'warpool:timed_out', 'warpool:out_of_memory'})) || left_ms <= slice_ms;
      if is_over
        % The library knows of the last slice only.
        waited = sprintf('after waiting %g s', wait_ms / 1000);
        error(failure.identifier, '%s', regexprep(failure.message, 'after waiting [0-9.]+ s', waited));
      end
    end
  end
end
