% SPDX-License-Identifier: Apache-2.0

function list = sessions(run)
  % SESSIONS  The programs connected to the broker, as far as you may see them.
  %   LIST = warpool.sessions returns an N x 1 struct: process number, user, language, label, what it waits for, what it published and
  %   got, and each kind of copy that was made, with its reason.
  %   warpool.sessions(RUN) returns those of one "warpool run", ended ones too.
  %
  %   Example:
  %     list = warpool.sessions;
  %     assert(any([list.alive]))
  %
  %   See also warpool.stats, warpool.status.
  if nargin == 0
    list = warpool_gateway('sessions');
  else
    list = warpool_gateway('sessions', run);
  end
end
