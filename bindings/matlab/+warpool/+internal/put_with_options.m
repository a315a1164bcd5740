% SPDX-License-Identifier: Apache-2.0

function version = put_with_options(name, x, varargin)
  % What warpool.put does when options are given.
  narginchk(2, Inf);
  [numbers, attributes] = warpool.internal.create_options(varargin);
  version = warpool.internal.patiently(numbers(4), ...
    @(ms) warpool_gateway('put', name, x, [numbers(1:3) ms], attributes));
end
