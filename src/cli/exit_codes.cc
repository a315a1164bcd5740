// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_codes.h"

#include <array>

#include "warpool/warpool.h"

namespace warpool::cli {
namespace {

constexpr std::array kFacts = {
    ExitCodeFact{ExitCode::kOk, "Done."},
    ExitCodeFact{ExitCode::kFailed,
                 "It failed; the message on standard error says why and what to do."},
    ExitCodeFact{ExitCode::kUsage,
                 "The command line or the pipeline file is wrong; nothing was done."},
    ExitCodeFact{ExitCode::kNotFound, "No such array, version, session or file."},
    ExitCodeFact{ExitCode::kPermission, "It exists, but is not yours to read or change."},
    ExitCodeFact{ExitCode::kTimedOut, "The wait ended before what was waited for came."},
    ExitCodeFact{ExitCode::kNoRoom, "Over the memory budget or another limit."},
    ExitCodeFact{
        ExitCode::kNoBroker,
        "No broker runs and none could be started, it was lost, or its version does not fit."},
    ExitCodeFact{ExitCode::kRunFailed, "`warpool run` itself failed before the command started."},
    ExitCodeFact{ExitCode::kNotExecutable,
                 "`warpool run`: the command was found, but could not be started."},
    ExitCodeFact{ExitCode::kCommandNotFound, "`warpool run`: the command was not found."},
    ExitCodeFact{ExitCode::kInterrupted,
                 "Interrupted by Ctrl-C. In general 128 + n: ended by signal n, as in a shell."},
    ExitCodeFact{ExitCode::kOutputClosed,
                 "Whoever read the output closed it (`warpool ls | head -1`)."},
};

}  // namespace

std::span<const ExitCodeFact> exit_code_facts() {
  return kFacts;
}

ExitCode exit_code_of_status(int32_t status) {
  switch (status) {
    case WARPOOL_OK:
      return ExitCode::kOk;
    case WARPOOL_INVALID_ARGUMENT:
      return ExitCode::kUsage;
    case WARPOOL_NOT_FOUND:
    case WARPOOL_LOST:
      return ExitCode::kNotFound;
    case WARPOOL_PERMISSION_DENIED:
      return ExitCode::kPermission;
    case WARPOOL_TIMED_OUT:
      return ExitCode::kTimedOut;
    case WARPOOL_INTERRUPTED:
      return ExitCode::kInterrupted;
    case WARPOOL_OUT_OF_MEMORY:
    case WARPOOL_LIMIT_REACHED:
      return ExitCode::kNoRoom;
    case WARPOOL_NO_BROKER:
    case WARPOOL_VERSION_MISMATCH:
      return ExitCode::kNoBroker;
    default:
      return ExitCode::kFailed;
  }
}

int exit_code_of_signal(int signal_number) {
  return 128 + signal_number;
}

}  // namespace warpool::cli
