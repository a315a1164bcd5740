% SPDX-License-Identifier: Apache-2.0

function chmod(name, mode)
  % CHMOD  Set who may read an item.
  %   warpool.chmod(NAME, MODE) holds for the current and later versions. MODE is '0600' for only you, '0640' or 'rw-r-----' for your
  %   group, '0644' for everybody.
  %
  %   Example:
  %     warpool.put('tour/open', 1);
  %     warpool.chmod('tour/open', 'rw-r--r--');
  %     item = warpool.info('tour/open');
  %     assert(strcmp(item.mode, '0644'))
  %
  %   See also warpool.put, warpool.info.
  warpool_gateway('chmod', name, warpool.internal.mode_bits(mode));
end
