% SPDX-License-Identifier: Apache-2.0

function h = create(name, extents, class_name, varargin)
  % CREATE  Make an array in shared memory, to be filled and published without a copy.
  %   H = warpool.create(NAME, EXTENTS) makes zeros of size EXTENTS, such as [1000 200], in memory that other programs will share.
  %   H = warpool.create(NAME, EXTENTS, CLASS) makes another class: 'double' (default), 'single', 'int8' to 'int64', 'uint8' to 'uint64',
  %   'logical', 'complex double' or 'complex single'.
  %   The options of warpool.put may follow.
  %
  %   H(:, k) = x writes into the shared memory, H(i, j) reads from it; size, numel, ndims and end work on H. H keeps its size and
  %   class, and copies of H mean the same array. No other program sees it until warpool.publish(H). If H goes away before that, so
  %   does the memory.
  %
  %   Example:
  %     h = warpool.create('tour/squares', [3 4]);
  %     for k = 1:4
  %       h(:, k) = k ^ 2;
  %     end
  %     warpool.publish(h);
  %     x = warpool.get('tour/squares');
  %     assert(x(1, 3) == 9)
  %
  %   See also warpool.publish, warpool.discard, warpool.put.
  if nargin < 3
    class_name = 'double';
  end
  if ~isnumeric(extents) || isempty(extents) || any(extents(:) < 0) || any(extents(:) ~= floor(extents(:)))
    error('warpool:invalid_argument', 'the size must be a row of whole numbers, such as [1000 200], or one number for a square matrix');
  end
  extents = double(extents(:)');
  if numel(extents) == 1
    extents = [extents extents];
  end
  [numbers, attributes] = warpool.internal.create_options(varargin);
  h = warpool.internal.patiently(numbers(4), ...
    @(ms) warpool_gateway('create', name, extents, class_name, [numbers(1:3) ms], attributes));
  if isnumeric(h)
    % The MEX gateway knows it by a number.
    h = warpool.Draft(h);
  end
end
