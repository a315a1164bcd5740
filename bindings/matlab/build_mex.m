% SPDX-License-Identifier: Apache-2.0

function folder = build_mex(library, target)
  % FOLDER = BUILD_MEX(LIBRARY, TARGET)  Compile the MEX gateway in MATLAB, and say what to put on the path.
  %   LIBRARY is the folder of libwarpool.so (default: build/release/lib of the repository), TARGET the folder for the result (default:
  %   build/release/matlab). Needs a C compiler that `mex -setup C` knows.
  here = fileparts(mfilename('fullpath'));
  root = fileparts(fileparts(here));
  if nargin < 1
    library = fullfile(root, 'build', 'release', 'lib');
  end
  if nargin < 2
    target = fullfile(root, 'build', 'release', 'matlab');
  end
  if ~exist(fullfile(library, 'libwarpool.so'), 'file')
    error('warpool:not_found', 'there is no libwarpool.so in %s: build it first, or give its folder', library);
  end
  if ~exist(target, 'dir')
    mkdir(target);
  end
  sources = [sources_in(fullfile(here, 'mex')), sources_in(fullfile(here, 'common'))];
  mex('-R2018a', ['-I' fullfile(root, 'include')], ['-I' fullfile(here, 'common')], ['-L' library], '-lwarpool', ...
    ['LDFLAGS=$LDFLAGS -Wl,-rpath,' library], 'CFLAGS=$CFLAGS -std=c99 -D_POSIX_C_SOURCE=200809L -fexceptions', ...
    '-output', fullfile(target, 'warpool_gateway'), sources{:});
  copyfile(fullfile(here, '+warpool'), fullfile(target, '+warpool'));
  folder = target;
  fprintf('The MEX file is built. Put it on the path: addpath(''%s'')\n', target);
end

function files = sources_in(folder)
  found = dir(fullfile(folder, '*.c'));
  files = fullfile(folder, {found.name});
end
