% SPDX-License-Identifier: Apache-2.0
function value = number_from_environment(name, default_value)
  % VALUE = NUMBER_FROM_ENVIRONMENT(NAME, DEFAULT_VALUE)  A positive whole number from an environment variable, DEFAULT_VALUE if it is not set.
  text = getenv(name);
  if isempty(text)
    value = default_value;
    return
  end
  value = str2double(text);
  if ~(value >= 1 && value == fix(value))
    error('digits:environment', '%s is "%s", which is no positive whole number', name, text);
  end
end
