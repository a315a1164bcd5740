// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace warpool::cli {

/// What the command `warpool` returns to its caller. Scripts rely on these numbers: they never change their meaning.
enum class ExitCode : int {
  kOk = 0,
  kFailed = 1,
  kUsage = 2,
  kNotFound = 3,
  kPermission = 4,
  kTimedOut = 5,
  kNoRoom = 6,
  kNoBroker = 7,
  kRunFailed = 125,
  kNotExecutable = 126,
  kCommandNotFound = 127,
  kInterrupted = 130,
  kOutputClosed = 141,
};

struct ExitCodeFact {
  ExitCode code;
  const char* meaning;
};

/// Every code with its meaning, in ascending order: the source of the manual, the reference page and `warpool --help`.
std::span<const ExitCodeFact> exit_code_facts();

/// The exit code for a ::warpool_status.
ExitCode exit_code_of_status(int32_t status);

/// The exit code that a shell gives to a process that a signal ended.
int exit_code_of_signal(int signal_number);

}  // namespace warpool::cli
