// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace warpool::cli {

/// From now on SIGINT only sets a flag: calls that wait ask it and end cleanly. A second SIGINT ends the process at once.
void catch_interrupts();
/// Whether SIGINT came.
bool interrupted();

/// Blocks signals for the lifetime of the object, for code that takes them with sigwaitinfo or a signalfd.
class BlockedSignals {
 public:
  explicit BlockedSignals(const sigset_t& signals);
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  /// What was blocked before: a child gets this back before it runs its command.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

/// A set of the given signals.
template <typename... Signals>
sigset_t signal_set(Signals... signals) {
  sigset_t set;
  sigemptyset(&set);
  (sigaddset(&set, signals), ...);
  return set;
}

}  // namespace warpool::cli
