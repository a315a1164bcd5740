% SPDX-License-Identifier: Apache-2.0

function ping()
  % PING  One empty exchange with the broker.
  %   warpool.ping returns when the broker has answered.
  %
  %   Example:
  %     warpool.ping
  %
  %   See also warpool.status.
  warpool_gateway('ping');
end
