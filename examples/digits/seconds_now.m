% SPDX-License-Identifier: Apache-2.0
function t = seconds_now()
  % T = SECONDS_NOW()  Seconds since 1970, as Python's time.time().
  if exist('OCTAVE_VERSION', 'builtin')
    t = time();
  else
    t = posixtime(datetime('now', 'TimeZone', 'UTC'));
  end
end
