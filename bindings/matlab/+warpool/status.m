% SPDX-License-Identifier: Apache-2.0

function broker = status()
  % STATUS  Facts about the broker.
  %   BROKER = warpool.status returns its socket, version and process, the memory limit and what of it is used, and the number of
  %   arrays and sessions.
  %
  %   Example:
  %     broker = warpool.status;
  %     assert(broker.memory_used <= broker.memory_limit)
  %
  %   See also warpool.version, warpool.sessions, warpool.ping.
  broker = warpool_gateway('status');
end
