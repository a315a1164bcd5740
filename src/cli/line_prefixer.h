// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpool::cli {

/**
 * Turns the output of one program into whole lines with a prefix, so that lines of several programs can be mixed. Every byte of a
 * line comes through unchanged. A carriage return ends a line as a newline does (progress bars would otherwise overwrite the prefix); the
 * pair of both counts once. A line longer than kMaxLine comes in several pieces, each a line of its own: memory stays bounded.
 */
class LinePrefixer {
 public:
  static constexpr size_t kMaxLine = 64 * 1024;

  explicit LinePrefixer(std::string prefix) : prefix_(std::move(prefix)) {}

  /// Takes bytes as they come and appends the lines that are complete to `out`.
  void feed(std::string_view bytes, std::string& out);
  /// The program has closed its output: appends what is left as a last line.
  void finish(std::string& out);

 private:
  void emit(std::string& out);

  std::string prefix_;
  std::string line_;
  bool after_carriage_return_ = false;
};

}  // namespace warpool::cli
