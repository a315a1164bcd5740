// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "cli/exit_codes.h"

namespace warpool::cli {

/// Ends a command: the message goes to standard error, the code to the caller. The message says what, which, why and what to do.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace warpool::cli
