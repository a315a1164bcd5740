% SPDX-License-Identifier: Apache-2.0

function x = get_with_options(name, varargin)
  % What warpool.get does when options are given.
  narginchk(1, Inf);
  options = warpool.internal.parse(varargin, struct('wait', false, 'version', 0));
  x = warpool.internal.patiently(warpool.internal.wait_ms(options.wait), ...
    @(ms) warpool_gateway('get', name, options.version, ms));
end
