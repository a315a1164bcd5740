// SPDX-License-Identifier: Apache-2.0
#include "cli/line_prefixer.h"

#include <algorithm>

namespace warpool::cli {

void LinePrefixer::emit(std::string& out) {
  out += prefix_;
  out += line_;
  out += '\n';
  line_.clear();
}

void LinePrefixer::feed(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    if (after_carriage_return_) {
      after_carriage_return_ = false;
      if (bytes.front() == '\n') bytes.remove_prefix(1);
      continue;
    }
    const size_t line_end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    const size_t taken = std::min(line_end, kMaxLine - line_.size());
    line_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    if (taken < line_end) {
      emit(out);
    } else if (!bytes.empty()) {
      after_carriage_return_ = bytes.front() == '\r';
      bytes.remove_prefix(1);
      emit(out);
    }
  }
}

void LinePrefixer::finish(std::string& out) {
  if (!line_.empty()) emit(out);
  after_carriage_return_ = false;
}

}  // namespace warpool::cli
