% SPDX-License-Identifier: Apache-2.0
function quiet_end()
  % QUIET_END()  Ended by a signal, as a pipeline does when another stage failed, Octave leaves no file octave-workspace behind.
  if exist('OCTAVE_VERSION', 'builtin')
    sigterm_dumps_octave_core(false);
    sighup_dumps_octave_core(false);
  end
end
