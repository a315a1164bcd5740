% SPDX-License-Identifier: Apache-2.0

function attributes = decode_attributes(json)
  % Attributes as a struct; none give a struct without fields.
  if isempty(json)
    attributes = struct();
  else
    attributes = jsondecode(json);
  end
end
