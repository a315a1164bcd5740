% SPDX-License-Identifier: Apache-2.0

function item = info(name, varargin)
  % INFO  Facts about one published item, without getting it.
  %   ITEM = warpool.info(NAME) returns a struct with these fields:
  %     name, owner, version, id
  %     kind          'array', 'text', 'chars', 'struct' or 'sparse'
  %     class, size   as warpool.get would give it
  %     dtype, shape, strides (bytes)   as Python sees it; a column-major array of doubles has the strides [8 8*rows ...]
  %     fields        paths of the fields of a struct
  %     bytes, mode, created (seconds since 1970), expires_in (seconds, Inf: stays), viewers
  %     attrs         a struct
  %     maker_pid, maker_alive, maker_language, maker_label
  %     inline        true: up to 64 KiB, travels in messages
  %     removed       true: removed or replaced, but still viewed by a program
  %   Option: 'version', N for this version instead of the latest.
  %
  %   Example:
  %     warpool.put('tour/signal', single([1 2; 3 4]), 'attrs', struct('unit', 'mV'));
  %     item = warpool.info('tour/signal');
  %     assert(strcmp(item.class, 'single') && isequal(item.strides, [4 8]) && strcmp(item.attrs.unit, 'mV'))
  %
  %   See also warpool.ls, warpool.get.
  options = warpool.internal.parse(varargin, struct('version', 0));
  item = warpool_gateway('stat', name, options.version);
  item.attrs = warpool.internal.decode_attributes(item.attrs);
end
