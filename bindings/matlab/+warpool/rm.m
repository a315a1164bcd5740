% SPDX-License-Identifier: Apache-2.0

function rm(name, varargin)
  % RM  Remove a name.
  %   warpool.rm(NAME) removes it. Programs that view it keep what they have.
  %   Option: 'version', N removes it only if that is the current version.
  %
  %   Example:
  %     warpool.put('tour/old', 1);
  %     warpool.rm('tour/old');
  %     assert(isempty(warpool.ls('tour/old')))
  %
  %   See also warpool.ls, warpool.expire.
  options = warpool.internal.parse(varargin, struct('version', 0));
  warpool_gateway('rm', name, options.version);
end
