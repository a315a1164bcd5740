% SPDX-License-Identifier: Apache-2.0

classdef Watcher < handle
  % WATCHER  What warpool.watch returns.
  %   EVENT = next(W, SECONDS) waits for the next event; delete(W) ends the watch. See warpool.watch.

  properties (SetAccess = private, Hidden = true)
    id = 0
  end

  methods
    function w = Watcher(id)
      w.id = id;
    end

    function event = next(w, seconds)
      % The next event; [] when none came in SECONDS (default: waits for ever).
      if nargin < 2
        seconds = true;
      end
      if w.id == 0
        error('warpool:invalid_argument', 'this watch has ended: make a new one with warpool.watch');
      end
      id = w.id;
      try
        event = warpool.internal.patiently(warpool.internal.wait_ms(seconds), @(ms) warpool_gateway('watch_next', id, ms));
      catch failure
        if ~strcmp(failure.identifier, 'warpool:timed_out')
          rethrow(failure);
        end
        event = [];
      end
    end

    function delete(w)
      if w.id ~= 0
        warpool_gateway('watch_close', w.id);
        w.id = 0;
      end
    end
  end
end
