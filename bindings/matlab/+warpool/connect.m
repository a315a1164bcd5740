% SPDX-License-Identifier: Apache-2.0

function connect(label, varargin)
  % CONNECT  Begin a session under a label, or at another broker.
  %   The first call of any function connects by itself; this is for a label that people see beside the program, as in "warpool ps".
  %   warpool.connect(LABEL) ends the present session, if there is one, with its unpublished arrays and watches, and begins a new one.
  %   What was published stays, and what was got stays valid.
  %
  %   Options: 'socket', PATH of the broker's socket (default: WARPOOL_SOCKET, the system's, this user's); 'start', false does not
  %   start a private broker when none runs; 'admin', true uses the admin socket, which belongs to the broker's owner.
  %
  %   Example:
  %     warpool.connect('feature extraction');
  %     own = warpool.stats;
  %     assert(strcmp(own.label, 'feature extraction'))
  %
  %   See also warpool.disconnect, warpool.sessions.
  if nargin == 0
    label = '';
  end
  options = warpool.internal.parse(varargin, struct('socket', '', 'start', true, 'admin', false));
  warpool_gateway('connect', label, options.socket, double(~options.start) + 4 * double(options.admin));
end
