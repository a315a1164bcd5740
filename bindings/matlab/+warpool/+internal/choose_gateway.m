% SPDX-License-Identifier: Apache-2.0

function choose_gateway(folder)
  % Octave only, called when the package comes onto the path: the oct-file if it is there and loads, else the MEX file.
  % The environment variable WARPOOL_GATEWAY (oct or mex) decides instead; tests use it.
  wanted = getenv('WARPOOL_GATEWAY');
  oct = fullfile(folder, 'oct');
  mex = fullfile(folder, 'mex');
  if ~strcmp(wanted, 'mex') && exist(oct, 'dir')
    addpath(oct);
    try
      warpool_gateway('version');
      return
    catch failure
      if strcmp(wanted, 'oct')
        rethrow(failure);
      end
      rmpath(oct);
      warning('warpool:gateway', 'the oct-file of Warpool does not load here, so the MEX file is used, which copies arrays: %s', ...
        failure.message);
    end
  end
  if exist(mex, 'dir')
    addpath(mex);
  end
end
