% SPDX-License-Identifier: Apache-2.0
function timeline(program, event, varargin)
  % TIMELINE(PROGRAM, EVENT, KEY, VALUE, ...)  Appends one event, with the time, to $DIGITS_OUT/<program>.jsonl, for report.py.
  %
  % The event 'start' begins a new file. Values are numbers or plain names.

  mode = 'a';
  if strcmp(event, 'start')
    mode = 'w';
  end
  file = fopen(fullfile(getenv('DIGITS_OUT'), [program '.jsonl']), mode);
  if file < 0
    error('digits:timeline', 'cannot write the timeline of %s: is DIGITS_OUT (%s) a folder?', program, getenv('DIGITS_OUT'));
  end
  fprintf(file, '{"event": "%s", "at": %.6f', event, seconds_now());
  for k = 1:2:numel(varargin)
    value = varargin{k + 1};
    if ischar(value)
      fprintf(file, ', "%s": "%s"', varargin{k}, value);
    else
      fprintf(file, ', "%s": %.17g', varargin{k}, value);
    end
  end
  fprintf(file, '}\n');
  fclose(file);
end
