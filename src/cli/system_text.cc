// SPDX-License-Identifier: Apache-2.0
#include "cli/system_text.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace warpool::cli {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

std::string environment_text(const char* name) {
  return environment(name).value_or("");
}

std::string error_text(int error) {
  return std::strerror(error);  // NOLINT(concurrency-mt-unsafe): one thread
}

std::string signal_text(int signal_number) {
  return strsignal(signal_number);  // NOLINT(concurrency-mt-unsafe): one thread
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // The stream turns errors of reading into its bad bit; an iterator over the file would throw them.
  if (file) text << file.rdbuf();
  return text.str();
}

}  // namespace warpool::cli
