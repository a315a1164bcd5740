// SPDX-License-Identifier: Apache-2.0
// The objects behind the C handles.
#pragma once

#include <atomic>
#include <vector>

#include "array/layout.h"
#include "client/connection.h"
#include "os/memory.h"

/// Memory under a draft; outlives it while the language side has views.
struct warpool_memory {
  std::atomic<std::uint32_t> references{1};
  warpool::os::Mapping mapping;  ///< of the memfd, or invalid for small items
  std::byte* small = nullptr;    ///< small items: aligned private memory
  std::size_t size = 0;
  bool published = false;  ///< the mapping is private now; late writes are counted when it goes
  warpool::client::Connection* connection = nullptr;

  [[nodiscard]] std::byte* data() const { return mapping.valid() ? mapping.data() : small; }
};

namespace warpool::client {

/// A published item in this process, or an entry of a listing.
struct ItemView {
  Text name;
  Text owner;
  Text attributes;
  Text maker_language;
  Text maker_label;
  std::vector<Text> paths;
  std::vector<warpool_part> parts;
  warpool_array_info info{};
};
/// Fills the view from a message; `data` is the start of the item, or nullptr.
Result<void> read_item_state(const wire::fb::ItemState& state, const std::byte* data,
                             ItemView& view);
/// The same for an item that wire::read_item has checked.
Result<void> read_item_state(const wire::fb::ItemState& state, const wire::fb::Item& item,
                             const std::byte* data, ItemView& view);

struct DraftState {
  Connection* connection = nullptr;
  std::uint64_t number = 0;  ///< 0: small item, unknown to the broker
  std::uint64_t token = 0;
  std::uint64_t size = 0;
  Text name;
  Text attributes;
  std::vector<array::Part> parts;
  std::uint32_t mode = 0;
  std::uint32_t flags = 0;
  std::int64_t ttl_ms = 0;
  os::Fd fd;
  warpool_memory* memory = nullptr;
  bool sealed = false;
  bool lost =
      false;  ///< the process forked: the parent has it, or the broker refused to take it back
  DraftState* previous = nullptr;
  DraftState* next = nullptr;
};

struct WatchState {
  Connection* connection = nullptr;
  std::uint64_t number = 0;
  Text pattern;
  std::uint32_t flags = 0;
  std::vector<warpool_event> events;  ///< oldest first from `taken`
  std::size_t taken = 0;
  WatchState* previous = nullptr;
  WatchState* next = nullptr;
};

/// One copy with what it costs: `parts` says where the sources are.
Result<std::vector<array::Part>> import_parts(const warpool_part* parts, std::uint32_t count);

}  // namespace warpool::client

struct warpool_connection {};  // only its address is used: it is a client::Connection

struct warpool_array : warpool::client::Held {
  std::atomic<std::uint32_t> references{1};
  warpool::client::Connection* connection = nullptr;
  warpool::client::ItemView view;
  warpool::os::Mapping mapping;
  std::byte* small = nullptr;
  std::atomic<std::byte*> private_copy{nullptr};
  warpool::os::Mapping private_mapping;
};

struct warpool_draft : warpool::client::DraftState {};
struct warpool_watch : warpool::client::WatchState {};

struct warpool_listing {
  std::vector<std::unique_ptr<warpool::client::ItemView>> items;
};

namespace warpool::client {

inline Connection* from_handle(warpool_connection* handle) {
  return reinterpret_cast<Connection*>(handle);
}
inline warpool_connection* to_handle(Connection* connection) {
  return reinterpret_cast<warpool_connection*>(connection);
}

/// Fills `out` (may be NULL) and returns the code.
warpool_status report_error(const Error& error, warpool_error* out);
warpool_status report_ok(warpool_error* out);

/// Memory for a small item, aligned and not yet written; nullptr when there is none. Free with free_small.
std::byte* allocate_small(std::size_t bytes);
void free_small(std::byte* memory);

}  // namespace warpool::client
