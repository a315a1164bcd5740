// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpool::daemon {

struct Options {
  std::string socket_path;
  std::uint64_t memory_limit = 0;  ///< bytes
  std::int64_t linger_ms = 10 * 60 * 1000;
  std::string log_path;  ///< "": stderr
  bool is_private = false;
  bool daemonize = false;
  bool verbose = false;
  int keeper_fd = -1;
  std::int32_t keeper_pid = 0;
  /// This command line without what concerns one process only, to start a broker like this one.
  std::vector<std::string> again;
};

/// "512M", "4G", "1.5G", "80%" (of the machine's memory), plain bytes.
Result<std::uint64_t> parse_size(const std::string& text, std::uint64_t whole);

/// Prints help or an error itself; then `exit_code` is set to >= 0.
Options parse_options(int argc, char** argv, int& exit_code);

}  // namespace warpool::daemon
