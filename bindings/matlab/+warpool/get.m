% SPDX-License-Identifier: Apache-2.0

function x = get(name, varargin)
  % GET  Get what was published under a name.
  %   X = warpool.get(NAME) gives the latest version. In Octave large arrays are not copied: X shares its memory with the other programs
  %   until it is changed, and a change copies it first. In MATLAB there is one copy. Items of up to 64 KiB travel in the message.
  %
  %   NAME is one of your own names, or 'user:name' for somebody else's.
  %   X(i,j,k) is x[i-1,j-1,k-1] in Python. A Python array of one dimension and n elements is n x 1 here, one of no dimension is 1 x 1.
  %
  %   warpool.get(NAME, OPTION, VALUE, ...) takes these options:
  %     'wait'     for a name that does not exist yet: false fails at once with warpool:not_found (default), true waits, a number
  %                waits so many seconds and then fails with warpool:timed_out. Ctrl-C ends a wait.
  %     'version'  this version instead of the latest
  %
  %   Example:
  %     warpool.put('tour/signal', reshape(0:5, 2, 3));
  %     x = warpool.get('tour/signal', 'wait', 10);
  %     assert(isequal(size(x), [2 3]) && x(2, 3) == 5)
  %
  %   See also warpool.put, warpool.info, warpool.watch.

  % In Octave an oct-file with this help text takes the place of this file, because a call of an .m file costs as much as the exchange
  % with the broker.
  if nargin == 1
    x = warpool_gateway('get', name);
  else
    x = warpool.internal.get_with_options(name, varargin{:});
  end
end
