// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/array_view.h"
#include "cli/client.h"
#include "cli/command_set.h"
#include "cli/failure.h"
#include "cli/process.h"
#include "cli/units.h"

namespace warpool::cli {
namespace {

struct WatchOptions {
  CommonOptions common;
  std::string pattern;
  std::string timeout;
  uint64_t count = 0;
  bool all_users = false;
  bool existing = false;
};

const char* event_name(uint32_t kind) {
  switch (kind) {
    case WARPOOL_EVENT_PUBLISHED:
      return "published";
    case WARPOOL_EVENT_REMOVED:
      return "removed";
    case WARPOOL_EVENT_OVERFLOW:
      return "overflow";
    default:
      return "unknown";
  }
}

Colour event_colour(uint32_t kind) {
  if (kind == WARPOOL_EVENT_PUBLISHED) return Colour::kGreen;
  return kind == WARPOOL_EVENT_REMOVED ? Colour::kYellow : Colour::kRed;
}

void print_event(const warpool_event& event, bool json, const Output& out) {
  const int64_t now_ns = unix_now_ns();
  if (json) {
    // One object a line, so that a reader gets each event at once.
    out.json_line({{"event", event_name(event.kind)},
                   {"name", event.name},
                   {"version", event.version},
                   {"owner_uid", event.owner_uid},
                   {"unix_ns", now_ns}});
    return;
  }
  const std::string what =
      out.paint(event_colour(event.kind), fmt::format("{:<9}", event_name(event.kind)));
  const std::string which = event.kind == WARPOOL_EVENT_OVERFLOW
                                ? "events were dropped: list again with `warpool ls`"
                                : fmt::format("{}@{}", printable(event.name), event.version);
  out.line(fmt::format("{}  {}  {}", format_local_time(now_ns), what, which));
}

int watch_arrays(const WatchOptions& options, Context& context) {
  const int64_t timeout_ms = options.timeout.empty() ? -1 : parse_duration_ms(options.timeout);
  const auto connection = connect(options.common.socket, StartBroker::kIfNeeded);
  const char* pattern = options.pattern.empty() ? nullptr : options.pattern.c_str();
  const uint32_t flags = flag_if(options.all_users, WARPOOL_LIST_ALL_USERS);
  const auto watch = make<warpool_watch>(warpool_watch_open, connection.get(), pattern, flags,
                                         options.existing ? 1 : 0);
  const int64_t end_ms = monotonic_ms() + timeout_ms;
  for (uint64_t seen = 0; options.count == 0 || seen < options.count; ++seen) {
    const warpool_wait wait =
        interruptible_wait(timeout_ms < 0 ? -1 : std::max<int64_t>(end_ms - monotonic_ms(), 0));
    warpool_event event{};
    event.struct_size = sizeof event;
    call(warpool_watch_next, watch.get(), &wait, &event);
    print_event(event, options.common.json, context.out);
  }
  return 0;
}

}  // namespace

void add_watch_command(CommandSet& set) {
  auto options = std::make_shared<WatchOptions>();
  CLI::App& command = set.add(
      "watch", "Print a line for every array that is published or removed, until Ctrl-C.",
      {{"warpool watch 'lab/*'", "what happens below lab/"},
       {"warpool watch result --existing --count 1 --timeout 60s", "wait until result exists"},
       {"warpool watch --json", "one JSON object a line"}});
  command
      .add_option("PATTERN", options->pattern, "Only names that match: * ? [a-z]; * also matches /")
      ->type_name("");
  command.add_flag("--all-users", options->all_users,
                   "Also arrays of other users that you may read");
  command.add_flag("--existing", options->existing,
                   "First print the arrays that exist already, as published");
  command.add_option("--count", options->count, "End after this many events")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command.add_option("--timeout", options->timeout, "End after this time, with exit code 5")
      ->type_name(kDurationArgument);
  set.share(command, options->common);
  set.on_run(command, options->common,
             [options](Context& context) { return watch_arrays(*options, context); });
}

}  // namespace warpool::cli
