// SPDX-License-Identifier: Apache-2.0
#include "daemon/options.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "os/memory.h"
#include "os/process.h"
#include "os/socket.h"
#include "wire/keeper_protocol.h"

namespace warpool::daemon {
namespace {

constexpr const char* kDescription =
    "warpoold, the broker of Warpool: programs share named arrays through it.\n"
    "It is started on demand by the programs themselves (a private broker of one user), or for all "
    "users by\n"
    "\"warpool up\" or systemd.";

constexpr const char* kFooter =
    "Examples:\n"
    "  warpoold --socket /run/warpool/warpool.sock --max-memory 16G\n"
    "  warpoold --private --daemonize\n"
    "Exit status: 0 clean end, 2 wrong usage, 75 another broker has the socket, 78 it cannot "
    "start.";

/// Half of the machine: what tmpfs takes by default, for the same reason.
constexpr std::uint64_t kDefaultShare = 2;

std::string default_socket(bool is_private) {
  if (const char* set = os::environment("WARPOOL_SOCKET")) return set;
  return is_private ? os::private_socket_path().c_str() : os::kSystemSocket;
}

}  // namespace

Result<std::uint64_t> parse_size(const std::string& text, std::uint64_t whole) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  std::string unit(end);
  while (!unit.empty() && (unit.back() == 'B' || unit.back() == 'b' || unit.back() == 'i'))
    unit.pop_back();
  double factor = 0;
  if (unit.empty()) factor = 1;
  if (unit == "K" || unit == "k") factor = 1024.0;
  if (unit == "M" || unit == "m") factor = 1024.0 * 1024;
  if (unit == "G" || unit == "g") factor = 1024.0 * 1024 * 1024;
  if (unit == "T" || unit == "t") factor = 1024.0 * 1024 * 1024 * 1024;
  if (unit == "%") factor = static_cast<double>(whole) / 100;
  const double bytes = value * factor;
  if (end == text.c_str() || factor == 0 || !std::isfinite(bytes) || bytes < 1 || bytes > 1e18)
    return Error::format(Code::kInvalidArgument,
                         "\"%s\" is not a size; write for example 512M, 4G or 50%%", text.c_str());
  return static_cast<std::uint64_t>(bytes);
}

Options parse_options(int argc, char** argv, int& exit_code) {
  Options options;
  exit_code = -1;
  CLI::App app(kDescription);
  app.footer(kFooter);
  std::string memory;
  double linger_s = 600;
  bool foreground = false;
  app.add_option("--socket", options.socket_path,
                 "Socket for programs; administrators get one of this name in FOLDER-admin");
  app.add_option("--max-memory", memory,
                 "Bytes that all arrays together may take, e.g. 512M, 16G, 50% (default 50%)");
  app.add_option("--linger", linger_s,
                 "Seconds a private broker stays after its last program while arrays exist (600)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--log", options.log_path, "Write the log to this file instead of stderr");
  app.add_flag("--private", options.is_private, "For this user alone; ends when nobody needs it");
  app.add_flag("--daemonize", options.daemonize,
               "Return once the broker serves; it goes on in the background");
  app.add_flag("--foreground", foreground, "Stay in the foreground (the default)");
  app.add_flag("-v,--verbose", options.verbose, "Log every session and array");
  app.add_option("--keeper-fd", options.keeper_fd, "Set by warpool-keeper")->group("");
  app.set_version_flag("--version", WARPOOL_VERSION_STRING);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : wire::kExitUsage;
    return options;
  }
  if (options.socket_path.empty()) options.socket_path = default_socket(options.is_private);
  options.linger_ms = static_cast<std::int64_t>(linger_s * 1000);
  const std::uint64_t whole = os::physical_memory();
  options.memory_limit = whole / kDefaultShare;
  if (!memory.empty()) {
    const Result<std::uint64_t> limit = parse_size(memory, whole);
    if (!limit.ok()) {
      std::fprintf(stderr, "warpoold: --max-memory: %s\n", limit.error().message.c_str());
      exit_code = wire::kExitUsage;
      return options;
    }
    options.memory_limit = limit.value();
  }
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--keeper-fd") {
      ++i;
    } else if (word != "--daemonize") {
      options.again.push_back(word);
    }
  }
  return options;
}

}  // namespace warpool::daemon
