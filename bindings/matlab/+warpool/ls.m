% SPDX-License-Identifier: Apache-2.0

function items = ls(pattern, varargin)
  % LS  List published items.
  %   warpool.ls prints a table of your items. warpool.ls(PATTERN) prints those whose name matches, as in a shell: * ? [a-z], where *
  %   also matches "/".
  %   ITEMS = warpool.ls(...) returns them as an N x 1 struct instead; see warpool.info for its fields.
  %
  %   Options: 'all_users', true adds those of others that you may read; 'removed', true adds those that are removed or replaced but
  %   still viewed by a program.
  %
  %   Example:
  %     warpool.put('tour/a', 1:3);
  %     warpool.put('tour/b', pi);
  %     items = warpool.ls('tour/[ab]');
  %     assert(isequal({items.name}, {'tour/a', 'tour/b'}))
  %
  %   See also warpool.info, warpool.rm, warpool.watch.
  if nargin == 0
    pattern = '';
  end
  options = warpool.internal.parse(varargin, struct('all_users', false, 'removed', false));
  items = warpool_gateway('list', pattern, double(options.all_users) + 2 * double(options.removed));
  for k = 1:numel(items)
    items(k).attrs = warpool.internal.decode_attributes(items(k).attrs);
  end
  if nargout == 0
    warpool.internal.print_items(items);
    clear items
  end
end
