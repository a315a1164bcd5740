% SPDX-License-Identifier: Apache-2.0
function x = read_array(name, seconds)
  % X = READ_ARRAY(NAME, SECONDS)  Waits at most so long for the file of this name and reads it, as exchange.py does.
  suffix = '.mat';
  if strcmp(getenv('DIGITS_FORMAT'), 'raw')
    suffix = '.bin';
  end
  path = fullfile(getenv('DIGITS_OUT'), 'files', name);
  deadline = seconds_now() + seconds;
  while ~exist([path suffix], 'file')
    if seconds_now() > deadline
      error('digits:wait', '%s did not appear within %g s; has the program that writes it failed?', [path suffix], seconds);
    end
    pause(0.001);
  end
  if strcmp(suffix, '.bin')
    file = fopen([path '.shape'], 'r');
    extents = fscanf(file, '%d');
    fclose(file);
    file = fopen([path suffix], 'r');
    x = fread(file, extents', 'double');
    fclose(file);
  else
    x = load([path suffix]);
    x = x.x;
  end
end
