% SPDX-License-Identifier: Apache-2.0

function save(name, file, varargin)
  % SAVE  Write a published item to a file.
  %   warpool.save(NAME, FILE) writes a plain array as .npy, which NumPy and many other tools read, anything else as .wpool. The file
  %   appears complete or not at all.
  %   Option: 'version', N for this version instead of the latest.
  %
  %   Example:
  %     warpool.put('tour/signal', reshape(0:5, 2, 3));
  %     file = [tempname() '.npy'];
  %     warpool.save('tour/signal', file);
  %     warpool.load(file, 'tour/again');
  %     assert(isequal(warpool.get('tour/again'), reshape(0:5, 2, 3)))
  %     delete(file);
  %
  %   See also warpool.load, warpool.put.
  options = warpool.internal.parse(varargin, struct('version', 0));
  warpool_gateway('save', name, file, options.version);
end
