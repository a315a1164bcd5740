% SPDX-License-Identifier: Apache-2.0

function facts = version()
  % VERSION  Version of Warpool, and how it works here.
  %   FACTS = warpool.version returns a struct: warpool (version of the library), gateway ('oct': Octave reads shared arrays without a
  %   copy; 'mex': one copy each way), borrowing (how arrays are shared without a copy, 'none' for MEX), and built_for.
  %   Without an output it prints them.
  %
  %   Example:
  %     facts = warpool.version;
  %     assert(any(strcmp(facts.gateway, {'oct', 'mex'})))
  %
  %   See also warpool.status.
  facts = warpool_gateway('version');
  if nargout == 0
    fprintf('Warpool %s, gateway %s (borrowing: %s), built for %s\n', facts.warpool, facts.gateway, facts.borrowing, facts.built_for);
    clear facts
  end
end
