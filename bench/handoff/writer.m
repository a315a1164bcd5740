% SPDX-License-Identifier: Apache-2.0
% The Octave side. One command a line, answered with milliseconds.
%   publish MIB        publishes bench/handoff, filled in place before the clock starts
%   fwrite MIB PATH    writes a matrix of the same size to a file
1;

function ms = publish(mib)
  rows = 1024;
  columns = mib * 128;
  h = warpool.create('bench/handoff', [rows columns]);
  for k = 1:columns
    h(:, k) = k;
  end
  start = tic;
  warpool.publish(h);
  ms = toc(start) * 1e3;
end

function ms = write_file(mib, path)
  x = repmat(1:mib * 128, 1024, 1);
  start = tic;
  file = fopen(path, 'w');
  count = fwrite(file, x, 'double');
  fclose(file);
  ms = toc(start) * 1e3;
  assert(count == numel(x));
end

line = strtrim(fgetl(stdin));
while ~isempty(line)
  words = strsplit(line, ' ');
  mib = str2double(words{2});
  if strcmp(words{1}, 'publish')
    ms = publish(mib);
  else
    ms = write_file(mib, words{3});
  end
  printf('%.6f\n', ms);
  fflush(stdout);
  line = strtrim(fgetl(stdin));
end
