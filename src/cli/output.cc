// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "cli/failure.h"
#include "cli/system_text.h"

namespace warpool::cli {
namespace {

const char* escape_of(Colour colour) {
  switch (colour) {
    case Colour::kNone:
      return "";
    case Colour::kBold:
      return "\x1b[1m";
    case Colour::kDim:
      return "\x1b[2m";
    case Colour::kRed:
      return "\x1b[31m";
    case Colour::kGreen:
      return "\x1b[32m";
    case Colour::kYellow:
      return "\x1b[33m";
    case Colour::kBlue:
      return "\x1b[34m";
    case Colour::kMagenta:
      return "\x1b[35m";
    case Colour::kCyan:
      return "\x1b[36m";
  }
  return "";
}

bool starts_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

/// JSON cannot hold bytes that are no UTF-8; labels and command lines may: those bytes become U+FFFD.
std::string dump(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string padded(const std::string& text, size_t width, Table::Align align,
                   const std::string& painted) {
  const std::string fill(width - std::min(width, display_width(text)), ' ');
  return align == Table::Align::kRight ? fill + painted : painted + fill;
}

}  // namespace

TerminalFacts terminal_facts(int fd) {
  TerminalFacts facts;
  facts.is_terminal = isatty(fd) == 1;
  facts.no_color = environment("NO_COLOR");
  facts.term = environment("TERM");
  winsize size{};
  if (facts.is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0) facts.width = size.ws_col;
  return facts;
}

bool use_colours(ColourChoice choice, const TerminalFacts& facts) {
  if (choice != ColourChoice::kAuto) return choice == ColourChoice::kAlways;
  const bool refused = facts.no_color && !facts.no_color->empty();
  const bool dumb = !facts.term || facts.term->empty() || *facts.term == "dumb";
  return facts.is_terminal && !refused && !dumb;
}

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // C1 controls arrive as C2 80..C2 9F in UTF-8; some terminals obey them like escape sequences.
    const bool c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1) {
      safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else if (byte < 0x20 || byte == 0x7F) {
      safe += fmt::format("\\x{:02x}", byte);
    } else {
      safe += text[i];
    }
  }
  return safe;
}

size_t display_width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string cut_to_width(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  size_t points = 0;
  size_t end = 0;
  while (end < text.size()) {
    if (starts_code_point(text[end]) && ++points == width) break;
    ++end;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string count_of(uint64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

void Output::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      throw Failure(ExitCode::kOutputClosed, "");
    } else if (errno != EINTR) {
      throw Failure(ExitCode::kFailed,
                    fmt::format("cannot write the output: {}", error_text(errno)));
    }
  }
}

void Output::line(std::string_view text) const {
  write(std::string(text) + "\n");
}

void Output::json(const nlohmann::json& value) const {
  write(dump(value, 2));
}

void Output::json_line(const nlohmann::json& value) const {
  write(dump(value, -1));
}

std::string Output::paint(Colour colour, std::string_view text) const {
  if (!colours_ || colour == Colour::kNone) return std::string(text);
  return fmt::format("{}{}\x1b[0m", escape_of(colour), text);
}

void Table::add_row(std::vector<Cell> cells) {
  cells.resize(columns_.size(), Cell(""));
  rows_.push_back(std::move(cells));
}

std::string Table::render_row(const std::vector<Cell>& cells, const std::vector<size_t>& widths,
                              const Output& output) const {
  std::string line;
  size_t used = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    const bool last = i + 1 == cells.size();
    std::string text = cells[i].text;
    if (last && output.width() > used) text = cut_to_width(text, output.width() - used);
    const size_t width = last && columns_[i].align == Align::kLeft ? 0 : widths[i];
    line += padded(text, width, columns_[i].align, output.paint(cells[i].colour, text));
    if (!last) line += "  ";
    used += widths[i] + 2;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string Table::render(const Output& output) const {
  std::vector<size_t> widths;
  std::vector<Cell> titles;
  widths.reserve(columns_.size());
  titles.reserve(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_)
      width = std::max(width, display_width(row[i].text));
    widths.push_back(width);
    titles.emplace_back(columns_[i].title, Colour::kBold);
  }
  std::string text = render_row(titles, widths, output);
  for (const auto& row : rows_)
    text += render_row(row, widths, output);
  return text;
}

std::string Facts::render() const {
  size_t width = 0;
  for (const auto& [key, value] : rows_)
    width = std::max(width, display_width(key));
  std::string text;
  for (const auto& [key, value] : rows_)
    text += fmt::format("{}{}  {}\n", key, std::string(width - display_width(key), ' '), value);
  return text;
}

}  // namespace warpool::cli
