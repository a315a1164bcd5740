% SPDX-License-Identifier: Apache-2.0

function print_items(items)
  % The table that warpool.ls prints.
  if isempty(items)
    fprintf('nothing is published\n');
    return
  end
  names = {items.name};
  width = max([4, cellfun(@numel, names)]);
  fprintf('%-*s  %-8s  %-16s  %12s  %-4s  %7s  %s\n', width, 'name', 'class', 'size', 'bytes', 'mode', 'version', 'made by');
  for k = 1:numel(items)
    extents = sprintf('%dx', items(k).size);
    kind = items(k).class;
    if strcmp(items(k).kind, 'sparse')
      kind = 'sparse';
    end
    fprintf('%-*s  %-8s  %-16s  %12d  %s  %7d  %s %s\n', width, items(k).name, kind, extents(1:end-1), items(k).bytes, ...
      items(k).mode, items(k).version, items(k).maker_language, items(k).maker_label);
  end
end
