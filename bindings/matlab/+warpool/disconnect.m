% SPDX-License-Identifier: Apache-2.0

function disconnect()
  % DISCONNECT  End the session.
  %   warpool.disconnect drops unpublished arrays and watches. What was published stays, and what was got stays valid. The next call of
  %   any function begins a new session.
  %
  %   Example:
  %     warpool.disconnect
  %
  %   See also warpool.connect.
  warpool_gateway('disconnect');
end
