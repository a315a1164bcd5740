// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "os/fd.h"

namespace warpool::os {

/// Value of an environment variable, nullptr where it is unset or empty. It belongs to the environment: copy what must last.
const char* environment(const char* name);

std::int32_t process_id();
std::uint32_t effective_user();
/// Login name of a user, or the number as text.
Text user_name(std::uint32_t uid);
/// The number of a login name or of digits; kNotFound otherwise.
Result<std::uint32_t> user_id(const char* name);

/// Command line of a process, arguments joined by spaces, cut at 120 bytes; "" where it may not be read.
Text command_line(std::int32_t pid);
/// Short id of the container that a process runs in, from its cgroup path; "" for none.
Text container_of(std::int32_t pid);
/// The same for the text of /proc/PID/cgroup; exposed for tests.
Text container_in_cgroup(std::string_view cgroup_text);

/// A handle on a process; invalid when it has ended.
Fd open_process(std::int32_t pid);
/// Has the process behind the handle ended? False for an invalid handle.
bool has_ended(const Fd& pidfd);

/// Starts a program. `inherited` descriptors get the numbers 3, 4, ... in the child, all others are closed by close-on-exec.
/// The child starts with default signal handling and an empty signal mask. Returns its pid.
Result<std::int32_t> spawn(const char* path, char* const argv[], std::span<const int> inherited);
/// Waits for a child; returns false when it was no child of ours or already reaped.
bool reap(std::int32_t pid);

}  // namespace warpool::os
