% SPDX-License-Identifier: Apache-2.0

function ms = ttl_ms(seconds)
  % Milliseconds to live for the gateway; Inf: 0 (it stays).
  if ~isnumeric(seconds) || ~isscalar(seconds) || ~isreal(seconds) || ~(seconds > 0)
    error('warpool:invalid_argument', 'the time to live must be seconds > 0, or Inf for an item that stays');
  end
  ms = ceil(double(seconds) * 1000);
  if ms > 2 ^ 53
    ms = 0;
  end
end
