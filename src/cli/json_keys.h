// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace warpool::cli {

/// Which keys a command prints with --json, for the manual; empty for a command without it. A test compares them with what is printed.
std::string json_keys_of(const std::string& command);

}  // namespace warpool::cli
