% SPDX-License-Identifier: Apache-2.0
function write_array(name, x)
  % WRITE_ARRAY(NAME, X)  Writes a double matrix to the file of this name, as exchange.py does.
  suffix = '.mat';
  if strcmp(getenv('DIGITS_FORMAT'), 'raw')
    suffix = '.bin';
  end
  path = fullfile(getenv('DIGITS_OUT'), 'files', name);
  folder = fileparts(path);
  if ~exist(folder, 'dir')
    mkdir(folder);
  end
  partial = [path '.partial'];
  switch getenv('DIGITS_FORMAT')
    case 'raw'
      write_file(partial, 'double', x);
      write_file([path '.shape'], 'char', sprintf('%d %d\n', size(x)));
    case 'mat6'
      save('-v6', partial, 'x');
    case 'mat7'
      save('-v7', partial, 'x');
    otherwise
      error('digits:format', 'DIGITS_FORMAT is "%s"; it must be raw, mat6 or mat7', getenv('DIGITS_FORMAT'));
  end
  [status, message] = movefile_quietly(partial, [path suffix]);
  if status ~= 0
    error('digits:rename', 'cannot rename %s: %s', partial, message);
  end
end

function write_file(path, type, x)
  file = fopen(path, 'w');
  if file < 0 || fwrite(file, x, type) ~= numel(x)
    error('digits:write', 'cannot write %s; is the disk full?', path);
  end
  fclose(file);
end

function [status, message] = movefile_quietly(from, to)
  % movefile starts a program in Octave, which costs more than the rename.
  if exist('OCTAVE_VERSION', 'builtin')
    [status, message] = rename(from, to);
  else
    [moved, message] = movefile(from, to);
    status = ~moved;
  end
end
