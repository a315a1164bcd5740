// SPDX-License-Identifier: Apache-2.0
#include "cli/help_formatter.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command_model.h"
#include "cli/output.h"

namespace warpool::cli {
namespace {

constexpr size_t kHelpWidth = 80;
constexpr size_t kCommandColumn = 12;

}  // namespace

std::string wrapped(std::string_view text, size_t width) {
  std::string lines;
  size_t used = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const size_t columns = display_width(word);
    const bool fits = used == 0 || used + 1 + columns <= width;
    if (used > 0) lines += fits ? " " : "\n";
    used = fits && used > 0 ? used + 1 + columns : columns;
    lines += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), kHelpWidth) + "\n";
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string) const {
  const bool top = app->get_parent() == nullptr;
  return fmt::format("\nUsage: {}\n",
                     top ? "warpool COMMAND [OPTIONS]" : model_of_command(*app).usage());
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  const std::string indent = fmt::format("  {:<{}}", command->get_name(), kCommandColumn);
  std::string text = wrapped(model_of_command(*command).summary(), kHelpWidth - indent.size());
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, indent.size(), ' ');
  return indent + text + "\n";
}

}  // namespace warpool::cli
