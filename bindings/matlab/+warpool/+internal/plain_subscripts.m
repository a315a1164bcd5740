% SPDX-License-Identifier: Apache-2.0

function subs = plain_subscripts(subs)
  % Subscripts for the MEX gateway: ':' or a double array.
  for k = 1:numel(subs)
    if islogical(subs{k})
      subs{k} = find(subs{k});
    elseif ~ischar(subs{k})
      subs{k} = double(subs{k});
    end
  end
end
