% SPDX-License-Identifier: Apache-2.0

function own = stats()
  % STATS  Counters of this program.
  %   OWN = warpool.stats returns what was published and got, how many bytes of that were shared without a copy, and for each reason
  %   how often and how many bytes were copied: copies_put, copied_bytes_put, copies_inline, copies_gateway, copies_convert, ...
  %
  %   Example:
  %     warpool.put('tour/one', 1);
  %     own = warpool.stats;
  %     assert(own.arrays_published >= 1)
  %
  %   See also warpool.sessions, warpool.status.
  broker = warpool_gateway('status');
  list = warpool_gateway('sessions');
  own = list([list.session] == broker.session);
end
