% SPDX-License-Identifier: Apache-2.0

function [numbers, attributes] = create_options(given)
  % The options of put, create and load as the gateway takes them: [mode, ttl in ms, flags, wait in ms], and JSON.
  options = warpool.internal.parse(given, struct('mode', '', 'ttl', Inf, 'attrs', [], 'wait', false, 'while_used', false));
  bits = 0;
  if ~isempty(options.mode)
    bits = warpool.internal.mode_bits(options.mode);
  end
  flags = 0;
  if options.while_used
    flags = 4;
  end
  numbers = [bits, warpool.internal.ttl_ms(options.ttl), flags, warpool.internal.wait_ms(options.wait)];
  attributes = '';
  if isstruct(options.attrs) && numel(options.attrs) == 1
    attributes = jsonencode(options.attrs);
  elseif ~isempty(options.attrs)
    error('warpool:invalid_argument', 'attrs must be one struct of numbers and text, such as struct(''unit'', ''mV'')');
  end
end
