// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace warpool::cli {

/**
 * Output that never blocks the loop that fills it: bytes wait here until the reader takes them. The file descriptor stays in blocking mode,
 * because other processes share it; a pipe that polls as writable takes at least PIPE_BUF bytes at once, so pieces of that size do.
 */
class PendingOutput {
 public:
  /// Beyond this the loop stops reading from the programs until the reader has caught up.
  static constexpr size_t kFull = 1024 * 1024;

  explicit PendingOutput(int fd) : fd_(fd) {}

  std::string& buffer() { return buffer_; }
  bool empty() const { return taken_ == buffer_.size(); }
  bool full() const { return buffer_.size() - taken_ >= kFull; }
  /// The reader has gone: bytes are dropped from now on.
  bool broken() const { return broken_; }
  /// Drops what waits and what will come.
  void abandon() { broken_ = true; }
  int fd() const { return fd_; }
  /// Writes what can be written without blocking.
  void flush();

 private:
  bool writable() const;

  int fd_;
  std::string buffer_;
  size_t taken_ = 0;
  bool broken_ = false;
};

}  // namespace warpool::cli
