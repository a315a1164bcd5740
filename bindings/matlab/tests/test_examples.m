% SPDX-License-Identifier: Apache-2.0

function cases = test_examples()
  % The examples in the help texts and in the user guide run as they stand.
  cases = {@every_function_has_help, @help_examples, @user_guide};
end

function files = public_functions()
  folder = fileparts(which('warpool.publish'));
  found = dir(fullfile(folder, '*.m'));
  files = fullfile(folder, {found.name});
end

function every_function_has_help()
  for file = public_functions()
    text = fileread(file{1});
    [~, name] = fileparts(file{1});
    assert(~isempty(regexp(text, ['% ' upper(name) '  \S'], 'once')), name)
  end
end

function help_examples()
  run = 0;
  for file = public_functions()
    code = example_of(fileread(file{1}));
    [~, name] = fileparts(file{1});
    if ~isempty(code)
      try
        evaluate(code);
      catch problem
        error('the example of warpool.%s fails: %s', name, problem.message);
      end
      run = run + 1;
    else
      assert(any(strcmp(name, {'Draft', 'Watcher'})), [name ' has no example'])
    end
  end
  assert(run >= 20)
end

function code = example_of(text)
  code = '';
  found = regexp(text, '%   Example:\r?\n((  %     [^\n]*\n)+)', 'tokens', 'once');
  if ~isempty(found)
    code = regexprep(found{1}, '(^|\n)  %     ', '$1');
  end
end

function user_guide()
  file = fullfile(fileparts(mfilename('fullpath')), '..', '..', '..', 'docs', 'matlab-octave.md');
  blocks = regexp(fileread(file), '```octave\r?\n(.*?)```', 'tokens');
  assert(numel(blocks) >= 8)
  code = '';
  for k = 1:numel(blocks)
    code = [code blocks{k}{1}]; %#ok<AGROW>
  end
  evaluate(code); % one after the other, as a reader would
end

function evaluate(code)
  % In a workspace of its own, its output kept back.
  evalc(code);
end
