// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "os/fd.h"

namespace warpool::cli {

struct Pipe {
  os::Fd read_end;
  os::Fd write_end;
};
/// Both ends close on exec. Throws Failure.
Pipe make_pipe();

enum class Group : uint8_t { kOfCaller, kOwn };

/// What to start, and how.
struct LaunchOptions {
  std::vector<std::string> command;  ///< looked up in PATH as a shell does
  std::map<std::string, std::string>
      env;          ///< added to, or replacing, the environment of this process
  std::string dir;  ///< empty: the current folder
  Group group = Group::kOfCaller;
  int stdin_fd = -1;  ///< -1: as this process
  int stdout_fd = -1;
  int stderr_fd = -1;
  sigset_t signal_mask{};  ///< blocked signals of the child
};

/// A started process, or why it could not be started.
struct Launched {
  pid_t pid = -1;
  int error = 0;     ///< errno of what failed, 0 if it runs
  std::string what;  ///< what failed: the folder or the command
  bool running() const { return error == 0; }
};

/// Starts a program. The result is known when this returns: a command that does not exist is an error, not a short-lived process.
Launched launch(const LaunchOptions& options);

/// What a program said before it ended, or before its time was up and it was killed.
struct Captured {
  bool started = false;
  bool timed_out = false;
  int exit_code = 0;   ///< as a shell gives it
  std::string output;  ///< standard output, at most 64 KiB
};
/// Runs a program without input and reads its standard output; standard error goes nowhere.
Captured capture(const std::vector<std::string>& command, int64_t timeout_ms);

/// The exit code of a shell for a command that could not be started: 127 if it does not exist, else 126.
int exit_code_of_launch_error(int error);

/// 16 random hexadecimal digits.
std::string random_id();

/// Milliseconds of the monotonic clock.
int64_t monotonic_ms();

}  // namespace warpool::cli
