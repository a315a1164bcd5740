% SPDX-License-Identifier: Apache-2.0

function options = parse(given, options)
  % Options by name: OPTIONS comes with every name that is known and its default.
  for k = 1:2:numel(given)
    name = given{k};
    if ~ischar(name) && ~isa(name, 'string')
      error('warpool:invalid_argument', 'options come in pairs of a name and a value; number %d of them is not a name', k);
    end
    name = char(name);
    if ~isfield(options, name)
      error('warpool:invalid_argument', 'there is no option ''%s'' here; known are: %s', name, strjoin(fieldnames(options)', ', '));
    end
    if k == numel(given)
      error('warpool:invalid_argument', 'the option ''%s'' has no value', name);
    end
    options.(name) = given{k + 1};
  end
end
