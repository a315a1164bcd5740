// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace warpool::cli {

/// Understands a command line, does what it says and returns the exit code. Throws nothing.
int run_command_line(int argc, const char* const* argv);

/**
 * `words` with a "--" before the program of `warpool run`, unless the user wrote one: what follows belongs to the program, even if it
 * looks like an option or a command of ours. The first word after "run" that is neither an option nor the value of one is the program.
 */
std::vector<std::string> mark_program(const CLI::App& app, std::vector<std::string> words);

}  // namespace warpool::cli
