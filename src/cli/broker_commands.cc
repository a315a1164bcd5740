// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/broker_process.h"
#include "cli/client.h"
#include "cli/command_set.h"
#include "cli/failure.h"
#include "cli/process.h"
#include "cli/program_view.h"
#include "cli/units.h"
#include "os/socket.h"

namespace warpool::cli {
namespace {

/// How long a broker may take to begin or to stop, on a busy machine.
constexpr int64_t kPatienceMs = 10'000;
constexpr std::chrono::milliseconds kPatienceStep{20};

struct UpOptions {
  CommonOptions common;
  std::string max_memory;
  bool foreground = false;
};

std::string which_broker(const warpool_broker_info& info) {
  return fmt::format("pid {}, memory limit {}, socket {}", info.broker_pid,
                     format_bytes(info.memory_limit), info.socket_path);
}

int report_up(const char* what, const warpool_broker_info& info, bool json, const Output& out) {
  if (json) {
    nlohmann::json facts = broker_json(info);
    facts["started"] = std::string_view(what) == "started";
    out.json(facts);
  } else {
    out.line(fmt::format("broker {}: {}", what, which_broker(info)));
  }
  return 0;
}

int already_up(const UpOptions& options, warpool_connection* connection, const Output& out) {
  const warpool_broker_info info = broker_info(connection);
  if (options.foreground ||
      (!options.max_memory.empty() && parse_size(options.max_memory) != info.memory_limit))
    throw Failure(
        ExitCode::kFailed,
        fmt::format(
            "a broker runs already ({}); stop it with `warpool down` to start it with other "
            "options",
            which_broker(info)));
  return report_up("already running", info, options.common.json, out);
}

std::vector<std::string> broker_command(const UpOptions& options, const std::string& socket) {
  std::vector<std::string> command = {find_broker_program(),
                                      options.foreground ? "--foreground" : "--daemonize",
                                      "--socket", socket};
  if (!options.max_memory.empty()) {
    command.emplace_back("--max-memory");
    command.push_back(fmt::format("{}", parse_size(options.max_memory)));
  }
  return command;
}

Owned<warpool_connection> wait_for_broker(const std::string& socket) {
  const int64_t end_ms = monotonic_ms() + kPatienceMs;
  for (;;) {
    ConnectAttempt attempt = try_connect(socket, StartBroker::kNever);
    if (attempt.status == WARPOOL_OK) return std::move(attempt.connection);
    if (attempt.status != WARPOOL_NO_BROKER || monotonic_ms() > end_ms)
      throw Failure(exit_code_of_status(attempt.status), attempt.message);
    std::this_thread::sleep_for(kPatienceStep);
  }
}

int bring_up(const UpOptions& options, Context& context) {
  // A wrong size is found before anything is started.
  if (!options.max_memory.empty()) parse_size(options.max_memory);
  const ConnectAttempt running = try_connect(options.common.socket, StartBroker::kNever);
  if (running.status == WARPOOL_OK)
    return already_up(options, running.connection.get(), context.out);
  if (running.status != WARPOOL_NO_BROKER)
    throw Failure(exit_code_of_status(running.status), running.message);
  const std::string socket =
      options.common.socket.empty() ? default_socket_path() : options.common.socket;
  make_socket_folder(socket);
  const std::vector<std::string> command = broker_command(options, socket);
  if (options.foreground) become_broker_program(command);
  const int status = run_broker_program(command);
  if (status != 0)
    throw Failure(
        ExitCode::kNoBroker,
        fmt::format("the broker ended with exit status {}; see why with `warpool up --foreground`",
                    status));
  const auto connection = wait_for_broker(socket);
  return report_up("started", broker_info(connection.get()), options.common.json, context.out);
}

void add_up(CommandSet& set) {
  auto options = std::make_shared<UpOptions>();
  CLI::App& command = set.add("up", "Start a broker that stays until `warpool down`.",
                              {{"warpool up --max-memory 8G", "at most 8 GiB of arrays"},
                               {"warpool up --foreground", "in this terminal, until Ctrl-C"},
                               {"warpool up --socket /srv/pool/warpool.sock",
                                "with a socket of its own, to mount in containers"}});
  command.add_flag("--foreground", options->foreground,
                   "Stay in the foreground and log to standard error");
  command
      .add_option("--max-memory", options->max_memory,
                  "Memory budget for all arrays, such as 512M or 4G")
      ->type_name(kSizeArgument);
  set.share(command, options->common);
  set.on_run(command, options->common,
             [options](Context& context) { return bring_up(*options, context); });
}

struct DownOptions {
  CommonOptions common;
  bool force = false;
};

/// The admin socket when this user may use it, else the ordinary one: the owner of a private broker may stop it there.
ConnectAttempt connect_to_stop(const std::string& socket) {
  ConnectAttempt attempt = try_connect(socket, StartBroker::kNever, Socket::kAdmin);
  if (attempt.status == WARPOOL_OK) return attempt;
  return try_connect(socket, StartBroker::kNever);
}

void wait_until_gone(const std::string& socket) {
  const int64_t end_ms = monotonic_ms() + kPatienceMs;
  while (try_connect(socket, StartBroker::kNever).status == WARPOOL_OK) {
    if (monotonic_ms() > end_ms)
      throw Failure(ExitCode::kTimedOut,
                    "the broker was told to stop, but still answers; see `warpool status`");
    std::this_thread::sleep_for(kPatienceStep);
  }
}

void report_down(bool stopped, const std::string& text, bool json, const Output& out) {
  if (json) {
    out.json({{"stopped", stopped}});
  } else {
    out.line(text);
  }
}

int bring_down(const DownOptions& options, Context& context) {
  ConnectAttempt attempt = connect_to_stop(options.common.socket);
  const std::string socket =
      options.common.socket.empty() ? default_socket_path() : options.common.socket;
  if (attempt.status == WARPOOL_NO_BROKER && os::connect_to(socket.c_str()).ok()) {
    throw Failure(
        ExitCode::kNoBroker,
        fmt::format("the broker at {} is there but does not answer: it may be stopped. Continue it "
                    "(kill -CONT) or end warpool-keeper and warpoold by hand",
                    socket));
  }
  if (attempt.status == WARPOOL_NO_BROKER) {
    // What the user wants is already so; scripts can run this twice.
    report_down(false, "no broker runs", options.common.json, context.out);
    return 0;
  }
  if (attempt.status != WARPOOL_OK)
    throw Failure(exit_code_of_status(attempt.status), attempt.message);
  const warpool_broker_info info = broker_info(attempt.connection.get());
  call(warpool_shutdown, attempt.connection.get(), options.force ? 1 : 0);
  attempt.connection.reset();
  wait_until_gone(info.socket_path);
  report_down(true,
              fmt::format("broker stopped ({}, {} dropped)", info.socket_path,
                          count_of(info.arrays, "array")),
              options.common.json, context.out);
  return 0;
}

void add_down(CommandSet& set) {
  auto options = std::make_shared<DownOptions>();
  CLI::App& command = set.add(
      "down",
      "Stop the broker. All its arrays go; programs that view some keep those until they let go.",
      {{"warpool down", "if no program is connected"},
       {"warpool down --force", "with programs connected"}});
  command.add_flag("--force", options->force, "Stop it although programs are connected");
  set.share(command, options->common);
  set.on_run(command, options->common,
             [options](Context& context) { return bring_down(*options, context); });
}

struct FactsOptions {
  CommonOptions common;
};

int report_no_broker(const FactsOptions& options, const std::string& message, Context& context) {
  if (options.common.json) context.out.json({{"running", false}, {"message", message}});
  throw Failure(ExitCode::kNoBroker, message);
}

int show_status(const FactsOptions& options, Context& context) {
  const ConnectAttempt attempt = try_connect(options.common.socket, StartBroker::kNever,
                                             options.common.admin ? Socket::kAdmin : Socket::kUser);
  if (attempt.status == WARPOOL_NO_BROKER)
    return report_no_broker(options, attempt.message, context);
  if (attempt.status != WARPOOL_OK)
    throw Failure(exit_code_of_status(attempt.status), attempt.message);
  const warpool_broker_info info = broker_info(attempt.connection.get());
  if (options.common.json) {
    context.out.json(broker_json(info));
  } else {
    context.out.write(broker_facts(info));
  }
  return 0;
}

void add_status(CommandSet& set) {
  auto options = std::make_shared<FactsOptions>();
  CLI::App& command =
      set.add("status", "Show whether a broker runs, and how much memory the arrays take.",
              {{"warpool status", "for people"},
               {"warpool status --json", "for scripts; exit code 7 if no broker runs"}});
  set.share(command, options->common, {.admin = true});
  set.on_run(command, options->common,
             [options](Context& context) { return show_status(*options, context); });
}

int list_programs(const FactsOptions& options, Context& context) {
  const auto connection = connect(options.common.socket, StartBroker::kNever,
                                  options.common.admin ? Socket::kAdmin : Socket::kUser);
  const uint64_t own = broker_info(connection.get()).session;
  const auto sessions = make<warpool_sessions>(warpool_list_sessions, connection.get(),
                                               static_cast<const char*>(nullptr));
  if (options.common.json) {
    context.out.json(programs_json(sessions.get(), own));
    return 0;
  }
  const Table table = program_table(sessions.get(), own);
  if (table.empty()) {
    context.err.line("No programs are connected.");
  } else {
    context.out.write(table.render(context.out));
  }
  return 0;
}

void add_ps(CommandSet& set) {
  auto options = std::make_shared<FactsOptions>();
  CLI::App& command = set.add(
      "ps", "List the connected programs: what they published, got, shared and copied, and why.",
      {{"warpool ps", "your programs"},
       {"sudo warpool ps --admin", "all users' programs of the system's broker"},
       {"warpool ps --json", "with all counters"}});
  set.share(command, options->common, {.admin = true});
  set.on_run(command, options->common,
             [options](Context& context) { return list_programs(*options, context); });
}

}  // namespace

void add_broker_commands(CommandSet& set) {
  add_up(set);
  add_down(set);
  add_status(set);
  add_ps(set);
}

}  // namespace warpool::cli
