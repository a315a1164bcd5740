// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/array_view.h"
#include "cli/client.h"
#include "cli/command_set.h"
#include "cli/units.h"

namespace warpool::cli {
namespace {

struct LsOptions {
  CommonOptions common;
  std::string pattern;
  bool all_users = false;
  bool removed = false;
  bool names = false;
};

void print_names(const warpool_listing* listing, bool with_owner, const Output& out) {
  std::string text;
  for (size_t i = 0; i < warpool_listing_count(listing); ++i) {
    const warpool_array_info& info = *warpool_listing_get(listing, i);
    text += with_owner ? fmt::format("{}:{}\n", printable(info.owner), printable(info.name))
                       : fmt::format("{}\n", printable(info.name));
  }
  out.write(text);
}

nlohmann::json listing_json(const warpool_listing* listing) {
  nlohmann::json arrays = nlohmann::json::array();
  uint64_t bytes = 0;
  for (size_t i = 0; i < warpool_listing_count(listing); ++i) {
    arrays.push_back(array_json(*warpool_listing_get(listing, i)));
    bytes += warpool_listing_get(listing, i)->size;
  }
  return {{"arrays", arrays}, {"count", arrays.size()}, {"size_bytes", bytes}};
}

int list_arrays(const LsOptions& options, Context& context) {
  const auto connection = connect(options.common.socket, StartBroker::kNever);
  const uint32_t flags = flag_if(options.all_users, WARPOOL_LIST_ALL_USERS) |
                         flag_if(options.removed, WARPOOL_LIST_REMOVED);
  const char* pattern = options.pattern.empty() ? nullptr : options.pattern.c_str();
  const auto listing = make<warpool_listing>(warpool_list, connection.get(), pattern, flags);
  if (options.common.json) {
    context.out.json(listing_json(listing.get()));
  } else if (options.names) {
    print_names(listing.get(), options.all_users, context.out);
  } else if (warpool_listing_count(listing.get()) == 0) {
    // To standard error: a script that counts lines must see none.
    context.err.line(options.pattern.empty()
                         ? "No arrays."
                         : "No arrays match " + printable(options.pattern) + ".");
  } else {
    context.out.write(
        array_table(listing.get(), options.all_users, unix_now_ns()).render(context.out));
  }
  return 0;
}

void add_ls(CommandSet& set) {
  auto options = std::make_shared<LsOptions>();
  CLI::App& command =
      set.add("ls", "List published arrays.",
              {{"warpool ls", "all arrays of yours"},
               {"warpool ls 'lab/*' --json", "those below lab/, for a script"},
               {"warpool ls --all-users", "also those of others that you may read"}});
  command
      .add_option("PATTERN", options->pattern, "Only names that match: * ? [a-z]; * also matches /")
      ->type_name("");
  command.add_flag("--all-users", options->all_users,
                   "Also arrays of other users that you may read");
  command.add_flag("--removed", options->removed,
                   "Also arrays that were removed or replaced, but are still viewed");
  command.add_flag("--names", options->names, "Only names, one a line");
  set.share(command, options->common);
  set.on_run(command, options->common,
             [options](Context& context) { return list_arrays(*options, context); });
}

struct InfoOptions {
  CommonOptions common;
  std::string name;
};

int show_array(const InfoOptions& options, Context& context) {
  const VersionedName name = parse_versioned_name(options.name);
  const auto connection = connect(options.common.socket, StartBroker::kNever);
  const auto listing =
      make<warpool_listing>(warpool_stat, connection.get(), name.name.c_str(), name.version);
  const warpool_array_info& info = *warpool_listing_get(listing.get(), 0);
  if (options.common.json) {
    context.out.json(array_json(info));
  } else {
    context.out.write(array_details(info, context.out));
  }
  return 0;
}

void add_info(CommandSet& set) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App& command = set.add("info", "Show everything about one array.",
                              {{"warpool info lab/features", "the latest version"},
                               {"warpool info lab/features@3 --json", "version 3, for a script"},
                               {"warpool info ann:features", "an array of the user ann"}});
  command.add_option("ARRAY", options->name, "NAME, NAME@VERSION or USER:NAME")
      ->required()
      ->type_name(kArrayArgument);
  set.share(command, options->common);
  set.on_run(command, options->common,
             [options](Context& context) { return show_array(*options, context); });
}

}  // namespace

void add_list_commands(CommandSet& set) {
  add_ls(set);
  add_info(set);
}

}  // namespace warpool::cli
