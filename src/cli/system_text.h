// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace warpool::cli {

// Texts from the C library. They live in static storage there; this program has one thread, so a copy is safe.

/// A variable of the environment; nothing if it is not set.
std::optional<std::string> environment(const char* name);
/// The same, but what is not set is empty: for variables where both mean the same.
std::string environment_text(const char* name);
/// "No such file or directory" for an errno.
std::string error_text(int error);
/// "Terminated" for a signal.
std::string signal_text(int signal_number);
/// All of a small file such as those of /proc; empty if it cannot be read.
std::string text_of_file(const std::string& path);

}  // namespace warpool::cli
