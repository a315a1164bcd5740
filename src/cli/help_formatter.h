// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace warpool::cli {

/// Help texts: descriptions wrapped to the width of a narrow terminal, only the first sentence of each command in the list of commands.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_subcommand(const CLI::App* command) const override;
};

/// Breaks lines at spaces so that none is longer than `width`, if its words allow it.
std::string wrapped(std::string_view text, size_t width);

}  // namespace warpool::cli
