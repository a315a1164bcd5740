% SPDX-License-Identifier: Apache-2.0
% Reads a count a line, answers with the nanoseconds of one put and get of 1 KiB.
1;

function ns = measure(count)
  x = reshape(0:127, 16, 8);
  start = tic;
  for k = 1:count
    warpool.put('bench/octave', x);
    y = warpool.get('bench/octave');
  end
  ns = toc(start) * 1e9 / count;
  assert(y(end) == 127);
end

line = strtrim(fgetl(stdin));
while ~isempty(line)
  printf('%.1f\n', measure(str2double(line)));
  fflush(stdout);
  line = strtrim(fgetl(stdin));
end
