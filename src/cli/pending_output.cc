// SPDX-License-Identifier: Apache-2.0
#include "cli/pending_output.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace warpool::cli {

bool PendingOutput::writable() const {
  pollfd entry{fd_, POLLOUT, 0};
  // An error or a hang-up counts as writable: the write then says what is wrong.
  return poll(&entry, 1, 0) > 0;
}

void PendingOutput::flush() {
  while (!broken_ && !empty() && writable()) {
    const size_t size = std::min<size_t>(buffer_.size() - taken_, PIPE_BUF);
    const ssize_t written = write(fd_, buffer_.data() + taken_, size);
    if (written > 0) {
      taken_ += static_cast<size_t>(written);
    } else if (written < 0 && errno != EINTR && errno != EAGAIN) {
      broken_ = true;
    }
  }
  if (broken_ || empty()) {
    buffer_.clear();
    taken_ = 0;
  } else if (taken_ >= kFull) {
    buffer_.erase(0, taken_);
    taken_ = 0;
  }
}

}  // namespace warpool::cli
