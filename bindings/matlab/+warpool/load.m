% SPDX-License-Identifier: Apache-2.0

function version = load(file, name, varargin)
  % LOAD  Publish what is in a file.
  %   VERSION = warpool.load(FILE, NAME) publishes the content of a .npy or .wpool file under NAME. The options of warpool.put may
  %   follow.
  %
  %   Example:
  %     warpool.put('tour/table', magic(4));
  %     file = [tempname() '.npy'];
  %     warpool.save('tour/table', file);
  %     warpool.load(file, 'tour/table2', 'ttl', 3600);
  %     assert(isequal(warpool.get('tour/table2'), magic(4)))
  %     delete(file);
  %
  %   See also warpool.save, warpool.get.
  [numbers, attributes] = warpool.internal.create_options(varargin);
  version = warpool.internal.patiently(numbers(4), ...
    @(ms) warpool_gateway('load', file, name, [numbers(1:3) ms], attributes));
end
