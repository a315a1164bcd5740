// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpool::cli {

// Everything that the command prints goes through here: formatting is separate from what is said.

enum class Colour : uint8_t { kNone, kBold, kDim, kRed, kGreen, kYellow, kBlue, kMagenta, kCyan };

/// What the user said about colours (`--color`).
enum class ColourChoice : uint8_t { kAuto, kAlways, kNever };

/// The facts that decide about colours in kAuto.
struct TerminalFacts {
  bool is_terminal = false;
  std::optional<std::string> no_color;  ///< NO_COLOR
  std::optional<std::string> term;      ///< TERM
  size_t width = 0;                     ///< columns; 0: unknown or not a terminal
};
/// Reads them for a file descriptor of this process.
TerminalFacts terminal_facts(int fd);
/// Colours only on a terminal, and never with a non-empty NO_COLOR or with TERM=dumb, unless the user asks for them.
bool use_colours(ColourChoice choice, const TerminalFacts& facts);

/// Text from other programs made safe to print: control characters, which could steer the terminal, appear as \xNN.
std::string printable(std::string_view text);
/// Columns that a UTF-8 text takes (every code point counts one).
size_t display_width(std::string_view text);
/// Cut to `width` columns, the last one an ellipsis if something was cut.
std::string cut_to_width(std::string_view text, size_t width);
/// "1 array", "2 arrays".
std::string count_of(uint64_t count, std::string_view singular);

/// One output of the process: standard output or standard error.
class Output {
 public:
  Output(int fd, bool colours, size_t width) : fd_(fd), colours_(colours), width_(width) {}

  /// Writes all of it, or throws Failure: quietly with kOutputClosed when the reader has gone.
  void write(std::string_view text) const;
  /// Writes the text and a newline.
  void line(std::string_view text) const;
  /// Writes indented JSON, or one line of it.
  void json(const nlohmann::json& value) const;
  void json_line(const nlohmann::json& value) const;
  /// The text in a colour, if this output shows colours.
  std::string paint(Colour colour, std::string_view text) const;

  int fd() const { return fd_; }
  bool colours() const { return colours_; }
  size_t width() const { return width_; }

 private:
  int fd_;
  bool colours_;
  size_t width_;
};

/// A table with aligned columns. Cells are plain text; colours are added when it is printed, so that they do not disturb widths.
class Table {
 public:
  enum class Align : uint8_t { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  /// Made from text without saying so, so that a row reads as the list of its texts.
  struct Cell {
    // NOLINTNEXTLINE(google-explicit-constructor)
    Cell(std::string text_in, Colour colour_in = Colour::kNone)
        : text(std::move(text_in)), colour(colour_in) {}
    Cell(const char* text_in) : text(text_in) {}  // NOLINT(google-explicit-constructor)
    std::string text;
    Colour colour = Colour::kNone;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell a column.
  void add_row(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }
  /// The lines, the last column cut to the width of the output where that is known.
  std::string render(const Output& output) const;

 private:
  std::string render_row(const std::vector<Cell>& cells, const std::vector<size_t>& widths,
                         const Output& output) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// "key      value" lines with aligned values.
class Facts {
 public:
  void add(std::string key, std::string value) {
    rows_.emplace_back(std::move(key), std::move(value));
  }
  std::string render() const;

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

}  // namespace warpool::cli
