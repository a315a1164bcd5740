% SPDX-License-Identifier: Apache-2.0

function version = publish(h)
  % PUBLISH  Publish an array that was made with warpool.create, in place.
  %   VERSION = warpool.publish(H) seals the memory that H was filled in and gives it the next version of its name. No byte is copied.
  %   H cannot be used any more; get the array with warpool.get.
  %
  %   Example:
  %     h = warpool.create('tour/ramp', [1 1000]);
  %     h(:) = 1:1000;
  %     version = warpool.publish(h);
  %     x = warpool.get('tour/ramp');
  %     assert(sum(x) == 500500)
  %
  %   See also warpool.create, warpool.discard.
  if isa(h, 'warpool.Draft')
    version = publish_draft(h);
  else
    version = warpool_gateway('publish', h);
  end
end
