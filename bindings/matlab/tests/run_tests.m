% SPDX-License-Identifier: Apache-2.0

function failed = run_tests(package, varargin)
  % FAILED = RUN_TESTS(PACKAGE)  Run all tests against the package in the folder PACKAGE, with a broker of their own, in MATLAB or Octave,
  % and return the number of cases that failed. RUN_TESTS(PACKAGE, 'test_types', ...) runs those files only.
  %
  % Environment: WARPOOL_BROKER (where warpoold is), WARPOOL_GATEWAY (oct or mex, Octave only), GTEST_OUTPUT (xml:FILE for a report).
  here = fileparts(mfilename('fullpath'));
  addpath(here);
  folder = tempname();
  mkdir(folder);
  setenv('WARPOOL_SOCKET', fullfile(folder, 'warpool.sock'));
  setenv('WARPOOL_LABEL', 'tests');
  addpath(package);
  files = varargin;
  if isempty(files)
    found = dir(fullfile(here, 'test_*.m'));
    files = cell(1, numel(found));
    for k = 1:numel(found)
      files{k} = found(k).name(1:end-2);
    end
  end
  facts = warpool.version();
  fprintf('gateway %s, %s\n', facts.gateway, facts.built_for);
  results = struct('file', {}, 'name', {}, 'seconds', {}, 'failure', {});
  for k = 1:numel(files)
    cases = feval(files{k});
    for c = 1:numel(cases)
      results(end+1) = run_case(files{k}, cases{c}); %#ok<AGROW>
    end
  end
  stop_broker();
  rmdir(folder, 's');
  failed = sum(~cellfun(@isempty, {results.failure}));
  fprintf('%d cases, %d failed\n', numel(results), failed);
  report = getenv('GTEST_OUTPUT');
  if strncmp(report, 'xml:', 4)
    write_report(report(5:end), facts.gateway, results);
  end
end

function result = run_case(file, test)
  name = func2str(test);
  result = struct('file', file, 'name', regexprep(name, '^.*[/>@]', ''), 'seconds', 0, 'failure', '');
  started = tic;
  try
    test();
  catch problem
    result.failure = problem.message;
    for k = 1:min(3, numel(problem.stack))
      result.failure = sprintf('%s\n    %s:%d', result.failure, problem.stack(k).name, problem.stack(k).line);
    end
  end
  result.seconds = toc(started);
  if isempty(result.failure)
    fprintf('ok      %s %s (%.2f s)\n', file, result.name, result.seconds);
  else
    fprintf('FAILED  %s %s: %s\n', file, result.name, result.failure);
  end
end

function stop_broker()
  folder = fileparts(getenv('WARPOOL_BROKER'));
  warpool.disconnect();
  if ~isempty(folder)
    [~, ~] = system(['"' fullfile(folder, 'warpool') '" down --force']);
  end
end

function write_report(file, gateway, results)
  out = fopen(file, 'w');
  fprintf(out, '<testsuites><testsuite name="octave_%s" tests="%d" failures="%d">\n', gateway, numel(results), ...
    sum(~cellfun(@isempty, {results.failure})));
  for k = 1:numel(results)
    fprintf(out, '<testcase classname="%s.%s" name="%s" time="%.3f">', gateway, results(k).file, results(k).name, results(k).seconds);
    if ~isempty(results(k).failure)
      text = strrep(strrep(results(k).failure, '&', '&amp;'), '<', '&lt;');
      fprintf(out, '<failure>%s</failure>', text);
    end
    fprintf(out, '</testcase>\n');
  end
  fprintf(out, '</testsuite></testsuites>\n');
  fclose(out);
end
