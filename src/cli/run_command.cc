// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/command_set.h"
#include "cli/failure.h"
#include "cli/process.h"
#include "cli/run_totals.h"
#include "cli/signals.h"
#include "cli/system_text.h"
#include "cli/units.h"

namespace warpool::cli {
namespace {

struct RunOptions {
  CommonOptions common;
  std::string label;
  std::vector<std::string> command;
};

/// How the command ended and what it took.
struct RunEnd {
  int exit_code = 0;
  int64_t elapsed_ms = 0;
  uint64_t peak_bytes = 0;
};

const sigset_t& passed_signals() {
  static const sigset_t set =
      signal_set(SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD);
  return set;
}

int shell_exit_code(int status) {
  return WIFSIGNALED(status) ? exit_code_of_signal(WTERMSIG(status)) : WEXITSTATUS(status);
}

/// Waits for the command and passes on the signals that come meanwhile.
RunEnd wait_for_command(pid_t pid, int64_t start_ms) {
  for (;;) {
    int status = 0;
    rusage usage{};
    const pid_t ended = wait4(pid, &status, WNOHANG, &usage);
    if (ended == pid)
      return RunEnd{shell_exit_code(status), monotonic_ms() - start_ms,
                    static_cast<uint64_t>(usage.ru_maxrss) * 1024};
    siginfo_t info{};
    const int signal_number = sigwaitinfo(&passed_signals(), &info);
    if (signal_number <= 0 || signal_number == SIGCHLD) continue;
    // Ctrl-C on a terminal reaches the command by itself, since it is in the same process group: passing it on as well would
    // count twice. The kernel marks such signals.
    if (info.si_code != SI_KERNEL) kill(pid, signal_number);
  }
}

std::string summary_line(const RunEnd& end, const RunTotals& totals) {
  return fmt::format("warpool: {}, {} peak memory, {}",
                     format_duration_ms(static_cast<uint64_t>(end.elapsed_ms)),
                     format_bytes(end.peak_bytes), describe_sharing(totals));
}

nlohmann::json summary_json(const std::string& run, const RunEnd& end, const RunTotals& totals) {
  nlohmann::json json = totals_json(totals);
  json["run"] = run;
  json["exit_code"] = end.exit_code;
  json["elapsed_ms"] = end.elapsed_ms;
  json["peak_memory_bytes"] = end.peak_bytes;
  return json;
}

/// A failure before the command starts has an exit code that no shell gives to a command.
Owned<warpool_connection> connect_for_run(const std::string& socket) {
  try {
    return connect(socket, StartBroker::kIfNeeded);
  } catch (const Failure& failure) {
    throw Failure(ExitCode::kRunFailed, failure.what());
  }
}

LaunchOptions launch_options(const RunOptions& options, const std::string& run,
                             const std::string& socket) {
  LaunchOptions launch_options;
  launch_options.command = options.command;
  // The socket too: the program must meet the broker that is asked about it afterwards.
  launch_options.env = {{"WARPOOL_RUN", run}, {"WARPOOL_SOCKET", socket}};
  if (!options.label.empty()) launch_options.env["WARPOOL_LABEL"] = options.label;
  return launch_options;
}

int run_command(const RunOptions& options, Context& context) {
  // The connection stays open, so that a broker started for this run stays until its sessions were asked for.
  const auto connection = connect_for_run(options.common.socket);
  const std::string run = random_id();
  LaunchOptions launching = launch_options(options, run, broker_info(connection.get()).socket_path);
  const BlockedSignals blocked(passed_signals());
  launching.signal_mask = blocked.before();
  const int64_t start_ms = monotonic_ms();
  const Launched launched = launch(launching);
  if (!launched.running())
    throw Failure(static_cast<ExitCode>(exit_code_of_launch_error(launched.error)),
                  fmt::format("cannot run {}: {}", launched.what, error_text(launched.error)));
  const RunEnd end = wait_for_command(launched.pid, start_ms);
  const RunTotals totals = totals_of_run(connection.get(), run);
  if (options.common.json) {
    context.err.json_line(summary_json(run, end, totals));
  } else {
    context.err.line(context.err.paint(Colour::kDim, summary_line(end, totals)));
  }
  return end.exit_code;
}

}  // namespace

void add_run_command(CommandSet& set) {
  auto options = std::make_shared<RunOptions>();
  CLI::App& command = set.add(
      "run",
      "Run a program and say what it shared. Starts a broker if none runs, passes signals on, "
      "returns the program's exit "
      "status, and ends with one line on standard error: time, memory (of its largest process), "
      "bytes shared, "
      "copies and why.",
      {{"warpool run -- python3 train.py --epochs 3", "everything after -- is the program's"},
       {"warpool run --label train -- octave-cli fit.m", "with a name for `warpool ps`"},
       {"warpool run --json -- ./prepare 2> run.json", "the last line as JSON"}});
  command.add_option("COMMAND", options->command, "Program and its arguments")
      ->type_name(kCommandArgument);
  command
      .add_option("--label", options->label,
                  "Name that `warpool ps` and `warpool ls` show (default: WARPOOL_LABEL)")
      ->type_name("TEXT");
  set.share(command, options->common);
  set.on_run(command, options->common, [options](Context& context) {
    if (options->command.empty())
      throw Failure(ExitCode::kUsage,
                    "there is no program to run; write it after --, such as `warpool run -- "
                    "python3 train.py`");
    return run_command(*options, context);
  });
}

}  // namespace warpool::cli
