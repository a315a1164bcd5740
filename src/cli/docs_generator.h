// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "cli/command_model.h"

namespace warpool::cli {

/// The reference page docs/commands.md. A test compares the committed page with it.
std::string markdown_reference(const ProgramModel& model);
/// Manual pages in roff: file name ("warpool-ls.1") to text.
std::map<std::string, std::string> manual_pages(const ProgramModel& model,
                                                const std::string& version);
/// A completion script for "bash", "zsh" or "fish".
std::string completion_script(const ProgramModel& model, const std::string& shell);

}  // namespace warpool::cli
