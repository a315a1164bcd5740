% SPDX-License-Identifier: Apache-2.0

function w = watch(pattern, varargin)
  % WATCH  Hear of what happens to names.
  %   W = warpool.watch(PATTERN) watches the names that match, as in warpool.ls, from now on.
  %   EVENT = next(W) waits for the next event and returns a struct with the fields kind ('published', 'removed' or 'overflow'), name,
  %   version and owner_uid. EVENT = next(W, SECONDS) waits at most so long and returns [] when nothing came. After 'overflow' events
  %   are missing, because this program read too slowly: list the names again. delete(W) ends the watch; so does clearing W.
  %
  %   Options: 'existing', true tells of what is published already first; 'all_users', true watches others' names too.
  %
  %   Example:
  %     warpool.put('tour/batch1', 1:3);
  %     w = warpool.watch('tour/batch*', 'existing', true);
  %     event = next(w, 5);
  %     assert(strcmp(event.kind, 'published') && strcmp(event.name, 'tour/batch1'))
  %     delete(w);
  %
  %   See also warpool.ls, warpool.get.
  if nargin == 0
    pattern = '';
  end
  options = warpool.internal.parse(varargin, struct('existing', false, 'all_users', false));
  w = warpool.Watcher(warpool_gateway('watch_open', pattern, double(options.all_users), double(options.existing)));
end
