% SPDX-License-Identifier: Apache-2.0

function bits = mode_bits(mode)
  % Permission bits from '0640', '640' or 'rw-r-----'. A number is refused: 640 would not mean what it looks like.
  if ~ischar(mode) && ~isa(mode, 'string')
    error('warpool:invalid_argument', 'the mode must be text: ''0600'', ''0640'', ''0644'' or ''rw-r-----''');
  end
  mode = char(mode);
  if numel(mode) == 9 && all(mode == 'rwxrwxrwx' | mode == '-')
    bits = sum((mode ~= '-') .* 2 .^ (8:-1:0));
  elseif ~isempty(regexp(mode, '^0?[0-7]{3}$', 'once'))
    bits = base2dec(mode, 8);
  else
    error('warpool:invalid_argument', 'the mode ''%s'' is neither octal, such as ''0640'', nor nine letters, such as ''rw-r-----''', mode);
  end
end
