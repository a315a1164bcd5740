% SPDX-License-Identifier: Apache-2.0

function discard(h)
  % DISCARD  Drop an array that was made with warpool.create, without publishing it.
  %   warpool.discard(H) gives its memory back now. The same happens when the last copy of H goes away.
  %
  %   Example:
  %     h = warpool.create('tour/never', [1000 1000]);
  %     warpool.discard(h);
  %
  %   See also warpool.create, warpool.publish.
  if isa(h, 'warpool.Draft')
    discard_draft(h);
  else
    warpool_gateway('discard', h);
  end
end
