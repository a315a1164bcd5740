% SPDX-License-Identifier: Apache-2.0

function version = put(name, x, varargin)
  % PUT  Publish a copy of a value under a name.
  %   VERSION = warpool.put(NAME, X) publishes X for other programs of this machine, in MATLAB, Octave or Python, and returns its
  %   version: 1, 2, ... Programs that view an older version keep it. To fill an array in shared memory without that copy, use
  %   warpool.create.
  %
  %   NAME is a path of letters, digits and the characters _ . and -, such as 'lab/session3/features'.
  %   X is numeric, logical or char, real or complex, of any size, full or sparse, or a struct whose fields are such values or structs
  %   again. Anything else is refused with a message that shows how to split it.
  %
  %   warpool.put(NAME, X, OPTION, VALUE, ...) takes these options:
  %     'mode'        who may read: '0600' only you (default), '0640' or 'rw-r-----' your group, '0644' everybody
  %     'ttl'         seconds after which it is removed; Inf: it stays (default)
  %     'attrs'       a struct of numbers and text that goes with it
  %     'wait'        while the memory budget is exhausted: false fails at once (default), true waits, a number waits so many seconds
  %     'while_used'  true: it goes when its maker has ended and nobody views it any more
  %
  %   Example:
  %     warpool.put('tour/signal', reshape(0:5, 2, 3));
  %     warpool.put('tour/run', struct('rate', 360, 'channel', 'MLII', 'x', zeros(3, 4)), 'attrs', struct('record', 208));
  %     run = warpool.get('tour/run');
  %     assert(strcmp(run.channel, 'MLII'))
  %
  %   See also warpool.get, warpool.create, warpool.ls, warpool.rm.

  % In Octave an oct-file with this help text takes the place of this file, because a call of an .m file costs as much as the exchange
  % with the broker.
  if nargin == 2
    version = warpool_gateway('put', name, x);
  else
    version = warpool.internal.put_with_options(name, x, varargin{:});
  end
end
