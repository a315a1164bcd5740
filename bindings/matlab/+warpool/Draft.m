% SPDX-License-Identifier: Apache-2.0

classdef Draft < handle
  % DRAFT  What warpool.create returns where the MEX gateway is used.
  %   H(:, k) = x writes into the shared memory, H(i, j) reads from it. See warpool.create.

  properties (SetAccess = private, Hidden = true)
    id = 0
    name = ''
    extents = [0 0]
    class_name = 'double'
    is_complex = false
    fate = 'dropped'
  end

  methods
    function h = Draft(id)
      facts = warpool_gateway('draft', id);
      h.id = id;
      h.name = facts.name;
      h.extents = facts.size;
      h.class_name = facts.class;
      h.is_complex = facts.complex;
    end

    function version = publish_draft(h)
      check_open(h);
      version = warpool_gateway('publish', h.id);
      h.id = 0;
      h.fate = 'published';
    end

    function discard_draft(h)
      if h.id ~= 0
        warpool_gateway('discard', h.id);
        h.id = 0;
      end
    end

    function delete(h)
      discard_draft(h);
    end

    function varargout = subsref(h, s)
      if ~strcmp(s(1).type, '()')
        error('warpool:invalid_argument', '''%s'' is an array that is being filled: index it with parentheses, h(i,j)', h.name);
      end
      check_open(h);
      subs = warpool.internal.plain_subscripts(s(1).subs);
      value = warpool_gateway('draft_read', h.id, subs);
      if numel(subs) == 1
        value = reshape(value, single_subscript_size(h, s(1).subs{1}, numel(value)));
      end
      if numel(s) > 1
        value = subsref(value, s(2:end));
      end
      varargout = {value};
    end

    function h = subsasgn(h, s, value)
      if numel(s) ~= 1 || ~strcmp(s.type, '()')
        error('warpool:invalid_argument', '''%s'' is an array that is being filled: index it with parentheses, h(i,j) = x', h.name);
      end
      check_open(h);
      if ~isnumeric(value) && ~islogical(value) && ~ischar(value)
        error('warpool:invalid_argument', '''%s'' holds %s values; a value of class %s cannot be assigned to its elements', ...
          h.name, h.class_name, class(value));
      end
      if ~isreal(value) && ~h.is_complex
        error('warpool:invalid_argument', ...
          '''%s'' was created as %s and cannot hold complex values: create it as ''complex double'', or assign real(x)', ...
          h.name, h.class_name);
      end
      value = full(value);
      if ~strcmp(class(value), h.class_name)
        if strcmp(h.class_name, 'logical')
          value = logical(value);
        else
          value = feval(h.class_name, value);
        end
      end
      warpool_gateway('draft_write', h.id, warpool.internal.plain_subscripts(s.subs), value);
    end

    function varargout = size(h, varargin)
      if nargin == 1 && nargout > 1
        parts = ones(1, nargout);
        count = min(nargout, numel(h.extents));
        parts(1:count) = h.extents(1:count);
        parts(nargout) = prod(h.extents(nargout:end));
        varargout = num2cell(parts);
      elseif nargin == 1
        varargout = {h.extents};
      elseif varargin{1} <= numel(h.extents)
        varargout = {h.extents(varargin{1})};
      else
        varargout = {1};
      end
    end

    function n = numel(h, varargin)
      n = prod(h.extents);
    end

    function n = ndims(h)
      n = numel(h.extents);
    end

    function n = length(h)
      n = max(h.extents) * all(h.extents);
    end

    function yes = isempty(h)
      yes = any(h.extents == 0);
    end

    function n = end(h, k, count)
      if k < count
        n = h.extents(k);
      else
        n = prod(h.extents(k:end));
      end
    end

    function disp(h)
      state = 'not published yet';
      if h.id == 0
        state = h.fate;
      end
      extents = sprintf('%dx', h.extents);
      fprintf('<warpool draft ''%s'': %s %s, %s>\n', h.name, extents(1:end-1), h.class_name, state);
    end
  end

  methods (Access = private)
    function check_open(h)
      if h.id == 0
        error('warpool:conflict', 'the array ''%s'' is %s already: make a new one with warpool.create', h.name, h.fate);
      end
    end

    function extents = single_subscript_size(h, subscript, count)
      % The size of h(subscript), as for a matrix.
      if ischar(subscript)
        extents = [count 1];
        return
      end
      extents = size(subscript);
      if islogical(subscript)
        extents(extents ~= 1) = count;
        if numel(extents) > 2 || all(size(subscript) ~= 1)
          extents = [count 1];
        end
      end
      if any(extents == 1) && numel(extents) == 2 && numel(h.extents) == 2
        if h.extents(2) == 1
          extents = [count 1];
        elseif h.extents(1) == 1
          extents = [1 count];
        end
      end
    end
  end
end
