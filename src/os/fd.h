// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "base/result.h"

namespace warpool::os {

/// Owns one file descriptor. No operator bool: descriptor 0 is valid.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();
  /// A second descriptor of the same open file, close-on-exec.
  [[nodiscard]] Result<Fd> duplicate() const;

 private:
  int fd_ = -1;
};

/// A second, close-on-exec descriptor of an open file that the caller goes on owning.
Result<Fd> duplicate_fd(int fd);
/// Raises the soft limit of open files to the hard one and returns the resulting limit.
std::uint64_t raise_fd_limit();
/// Closes every descriptor with this number or a higher one.
void close_from(int first);
/// Descriptors of this process that are open now.
std::uint64_t count_open_fds();

}  // namespace warpool::os
