// SPDX-License-Identifier: Apache-2.0
// Components tell what happened as typed events to an injected Report; the text log, tests and later metrics subscribe.
#pragma once

#include <cstdint>

#include "base/text.h"

namespace warpool {

enum class EventKind : std::uint8_t {
  kStarted,
  kStopping,
  kSessionOpened,
  kSessionClosed,
  kSessionRefused,
  kProtocolViolation,
  kArrayPublished,
  kArrayRemoved,
  kArraysLost,
  kArraysRecovered,
  kMemoryRefused,
  kKeeperLost,
  kKeeperStarted,
  kDegraded,
};
constexpr int kEventKinds = 14;

const char* event_name(EventKind kind);

struct Event {
  EventKind kind;
  std::uint64_t session = 0;  ///< 0: no session
  std::uint64_t value = 0;    ///< bytes or a count, as the kind suggests
  Text detail;
};

/// Called on the thread of the component; must not block and must not call back.
class Report {
 public:
  virtual ~Report() = default;
  virtual void on_event(const Event& event) = 0;
};

/// For components whose owner does not listen.
class NullReport final : public Report {
 public:
  void on_event(const Event&) override {}
};

}  // namespace warpool
