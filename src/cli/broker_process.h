// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace warpool::cli {

/// Where the broker's program is: WARPOOL_BROKER, the folder of this program, then PATH. Throws Failure (no broker) with the places.
std::string find_broker_program();
/// The socket that a broker of this user would get without --socket: WARPOOL_SOCKET, below XDG_RUNTIME_DIR, below the temporary folder.
std::string default_socket_path();
/// The folder of the system's broker.
inline constexpr const char* kSystemSocketPath = "/run/warpool/warpool.sock";

/// Makes the folder of a socket, with rights for its owner only, unless it exists. Throws Failure if it cannot or if it is somebody else's.
void make_socket_folder(const std::string& socket_path);
/// What is wrong with the owner or the rights of a socket's folder, with the remedy; empty if nothing is.
std::string trouble_with_socket_folder(const std::string& socket_path);

/// Runs the broker's program to its end and returns its exit status; with --daemonize that is when it is ready.
int run_broker_program(const std::vector<std::string>& command);
/// Becomes the broker's program. Returns only by throwing Failure.
[[noreturn]] void become_broker_program(const std::vector<std::string>& command);

}  // namespace warpool::cli
