% SPDX-License-Identifier: Apache-2.0

function expire(name, seconds)
  % EXPIRE  Set how long an item stays.
  %   warpool.expire(NAME, SECONDS) removes it that long from now; Inf: it stays.
  %
  %   Example:
  %     warpool.put('tour/soon', 1);
  %     warpool.expire('tour/soon', 3600);
  %     item = warpool.info('tour/soon');
  %     assert(item.expires_in <= 3600)
  %
  %   See also warpool.put, warpool.rm.
  warpool_gateway('expire', name, warpool.internal.ttl_ms(seconds));
end
