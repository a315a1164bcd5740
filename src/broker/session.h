// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "broker/broker.h"

namespace warpool::broker {

struct Broker::Session {
  SessionId id = 0;
  Peer peer;
  SessionPort* port = nullptr;
  bool greeted = false;
  bool ending = false;  ///< set while it is torn down, so that nothing is sent any more
  std::string run;
  std::string library_version;
  std::shared_ptr<store::Holder> holder;
  std::int64_t opened_ns = 0;
  std::int64_t last_request_ns = 0;
  Counters counters;
  std::map<std::uint64_t, Draft> drafts;
  std::unordered_map<std::uint64_t, std::uint32_t> views;  ///< item id -> how often
  std::map<std::uint64_t, Watch> watches;
  /// Requests that wait: request id -> key of pending_gets_, or nothing for a create.
  std::map<std::uint64_t, std::optional<store::NameKey>> pending;
  std::deque<Deferred> deferred;  ///< replies that carry a descriptor and wait for acknowledgement
  std::size_t deferred_bytes = 0;
  std::uint64_t fds_sent = 0;
  std::uint64_t fds_received = 0;  ///< as the program says
};

/// A session that may have ended, as shown to people.
struct Broker::Ended {
  SessionId session = 0;
  bool alive = false;
  std::string run, language, label, command, container, waiting_for;
  std::int32_t pid = 0;
  std::uint32_t uid = 0;
  std::uint64_t connected_ms = 0, idle_ms = 0;
  std::uint64_t memory_drafts = 0, memory_spare = 0, memory_published = 0;
  Counters counters;
};

}  // namespace warpool::broker
