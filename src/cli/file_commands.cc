// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/command_set.h"
#include "cli/output.h"
#include "cli/units.h"

namespace warpool::cli {
namespace {

struct FileOptions {
  CommonOptions common;
  std::string name;
  std::string file;
  std::string mode = "600";
  std::string ttl;
  std::string wait;
};

int save_array(const FileOptions& options, Context& context) {
  const VersionedName name = parse_versioned_name(options.name);
  const auto connection = connect(options.common.socket, StartBroker::kNever);
  call(warpool_save, connection.get(), name.name.c_str(), name.version, options.file.c_str());
  if (options.common.json) {
    context.out.json({{"name", name.name}, {"file", options.file}});
  } else {
    context.out.line(fmt::format("saved {} in {}", options.name, printable(options.file)));
  }
  return 0;
}

void add_save(CommandSet& set) {
  auto options = std::make_shared<FileOptions>();
  CLI::App& command = set.add(
      "save",
      "Write an array to a file. A plain array becomes a .npy file that NumPy and others read; "
      "structs, "
      "sparse matrices and text become a .wpool file. The file appears complete or not at all.",
      {{"warpool save lab/features features.npy", "the latest version"},
       {"warpool save lab/features@3 old.npy", "version 3"}});
  command.add_option("ARRAY", options->name, "NAME, NAME@VERSION or USER:NAME")
      ->required()
      ->type_name(kArrayArgument);
  command.add_option("PATH", options->file, "File to write; one that exists is replaced")
      ->required()
      ->type_name(kFileArgument);
  set.share(command, options->common);
  set.on_run(command, options->common,
             [options](Context& context) { return save_array(*options, context); });
}

int load_array(const FileOptions& options, Context& context) {
  warpool_create_options create = WARPOOL_CREATE_OPTIONS_INIT;
  create.mode = parse_mode(options.mode, 0600);
  create.ttl_ms = options.ttl.empty() ? 0 : parse_duration_ms(options.ttl);
  const warpool_wait wait =
      interruptible_wait(options.wait.empty() ? 0 : parse_duration_ms(options.wait));
  if (!options.wait.empty()) create.wait = &wait;
  const auto connection = connect(options.common.socket, StartBroker::kIfNeeded);
  uint64_t version = 0;
  const warpool_create_options* create_view = &create;
  call(warpool_load, connection.get(), options.file.c_str(), options.name.c_str(), create_view,
       &version);
  if (options.common.json) {
    context.out.json({{"name", options.name}, {"version", version}, {"file", options.file}});
  } else {
    context.out.line(
        fmt::format("published {}@{} from {}", options.name, version, printable(options.file)));
  }
  return 0;
}

void add_load(CommandSet& set) {
  auto options = std::make_shared<FileOptions>();
  CLI::App& command =
      set.add("load", "Publish an array from a .npy or .wpool file. Starts a broker if none runs.",
              {{"warpool load features.npy lab/features", "a file of NumPy"},
               {"warpool load big.npy lab/big --wait 1m", "wait for room in the memory budget"}});
  command.add_option("PATH", options->file, "File to read")->required()->type_name(kFileArgument);
  command.add_option("ARRAY", options->name, "NAME to publish it under")
      ->required()
      ->type_name(kArrayArgument);
  command
      .add_option("--mode", options->mode,
                  "Who may read it: octal digits (600, 640, 644) or g+r, o+r")
      ->type_name("MODE");
  command.add_option("--ttl", options->ttl, "Remove it after this time (30s, 10m, 2h, 1d)")
      ->type_name(kDurationArgument);
  command.add_option("--wait", options->wait, "Wait this long for room in the memory budget")
      ->type_name(kDurationArgument);
  set.share(command, options->common);
  set.on_run(command, options->common,
             [options](Context& context) { return load_array(*options, context); });
}

}  // namespace

void add_file_commands(CommandSet& set) {
  add_save(set);
  add_load(set);
}

}  // namespace warpool::cli
