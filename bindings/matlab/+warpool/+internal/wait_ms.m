% SPDX-License-Identifier: Apache-2.0

function ms = wait_ms(wait)
  % Milliseconds for the gateway: false: 0, true or Inf: -1 (no limit), a number: seconds.
  if isempty(wait)
    ms = 0;
  elseif islogical(wait) && isscalar(wait)
    ms = -double(wait);
  elseif isnumeric(wait) && isscalar(wait) && isreal(wait) && wait >= 0
    ms = ceil(double(wait) * 1000);
    if ms > 2 ^ 53
      ms = -1;
    end
  else
    error('warpool:invalid_argument', 'wait must be seconds >= 0, true to wait without limit, or false');
  end
end
