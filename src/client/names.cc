// SPDX-License-Identifier: Apache-2.0
// What names mean: listings, removal, permissions, expiry, watches, sessions.
#include <cstring>

#include "client/state.h"

namespace warpool::client {
namespace {

flatbuffers::Offset<flatbuffers::String> add_name(Builder& builder, const char* name) {
  const std::size_t length = name != nullptr ? std::strlen(name) : 0;
  return builder.CreateString(name != nullptr ? name : "",
                              length < 4 * kNameBytesMax ? length : 4 * kNameBytesMax);
}

/// A call whose answer is only success or failure.
template <typename AddBody>
warpool_status simple_call(warpool_connection* handle, warpool_error* error, AddBody add_body) {
  Connection& connection = *from_handle(handle);
  Result<Answer> answer = connection.call({}, -1, add_body);
  if (!answer.ok()) return report_error(answer.error(), error);
  connection.recycle(std::move(answer).value());
  return report_ok(error);
}

Result<void> add_items(const wire::fb::Items& page, warpool_listing& listing) {
  if (page.items() == nullptr) return {};
  for (const wire::fb::ItemState* state : *page.items()) {
    auto view = std::unique_ptr<ItemView>(new ItemView());
    WARPOOL_TRY(read_item_state(*state, nullptr, *view));
    listing.items.push_back(std::move(view));
  }
  return {};
}

Result<std::unique_ptr<warpool_listing>> list(Connection& connection, const char* pattern,
                                              std::uint32_t flags) {
  auto listing = std::unique_ptr<warpool_listing>(new warpool_listing());
  Text cursor;
  do {
    Result<Answer> answer = connection.call({}, -1, [&](Builder& builder) {
      const auto pattern_text = add_name(builder, pattern);
      const auto cursor_text = wire::add_text(builder, cursor.view());
      return wire::fb::CreateList(builder, pattern_text, flags, cursor_text);
    });
    if (!answer.ok()) return answer.take_error();
    const wire::fb::Items* page = answer.value().reply->body_as_Items();
    if (page == nullptr) return Error::format(Code::kProtocolError, "the broker gave no list");
    WARPOOL_TRY(add_items(*page, *listing));
    cursor = Text(wire::text(page->cursor()));
    connection.recycle(std::move(answer).value());
  } while (!cursor.empty());
  return listing;
}

Result<std::unique_ptr<warpool_listing>> stat(Connection& connection, const char* name,
                                              std::uint64_t version) {
  auto listing = std::unique_ptr<warpool_listing>(new warpool_listing());
  Result<Answer> answer = connection.call({}, -1, [&](Builder& builder) {
    return wire::fb::CreateStat(builder, add_name(builder, name), version);
  });
  if (!answer.ok()) return answer.take_error();
  const wire::fb::Items* page = answer.value().reply->body_as_Items();
  if (page == nullptr) return Error::format(Code::kProtocolError, "the broker gave no description");
  WARPOOL_TRY(add_items(*page, *listing));
  if (listing->items.size() != 1)
    return Error::format(Code::kProtocolError, "the broker gave no single description");
  connection.recycle(std::move(answer).value());
  return listing;
}

warpool_status give_listing(Result<std::unique_ptr<warpool_listing>> listing, warpool_listing** out,
                            warpool_error* error) {
  if (!listing.ok()) return report_error(listing.error(), error);
  *out = std::move(listing).value().release();
  return report_ok(error);
}

}  // namespace
}  // namespace warpool::client

using namespace warpool;
using namespace warpool::client;

warpool_status warpool_remove(warpool_connection* connection, const char* name, uint64_t version,
                              warpool_error* error) {
  return simple_call(connection, error, [&](Builder& builder) {
    return wire::fb::CreateRemove(builder, add_name(builder, name), version);
  });
}

warpool_status warpool_chmod(warpool_connection* connection, const char* name, uint32_t mode,
                             warpool_error* error) {
  return simple_call(connection, error, [&](Builder& builder) {
    return wire::fb::CreateChmod(builder, add_name(builder, name), mode);
  });
}

warpool_status warpool_expire(warpool_connection* connection, const char* name, int64_t ttl_ms,
                              warpool_error* error) {
  return simple_call(connection, error, [&](Builder& builder) {
    return wire::fb::CreateExpire(builder, add_name(builder, name), ttl_ms);
  });
}

warpool_status warpool_list(warpool_connection* connection, const char* pattern, uint32_t flags,
                            warpool_listing** out, warpool_error* error) {
  return give_listing(list(*from_handle(connection), pattern, flags), out, error);
}

warpool_status warpool_stat(warpool_connection* connection, const char* name, uint64_t version,
                            warpool_listing** out, warpool_error* error) {
  return give_listing(stat(*from_handle(connection), name, version), out, error);
}

size_t warpool_listing_count(const warpool_listing* listing) {
  return listing->items.size();
}

const warpool_array_info* warpool_listing_get(const warpool_listing* listing, size_t index) {
  return index < listing->items.size() ? &listing->items[index]->info : nullptr;
}

void warpool_listing_free(warpool_listing* listing) {
  delete listing;
}

warpool_status warpool_watch_open(warpool_connection* handle, const char* pattern, uint32_t flags,
                                  int existing, warpool_watch** out, warpool_error* error) {
  Connection& connection = *from_handle(handle);
  auto watch = std::unique_ptr<warpool_watch>(new warpool_watch());
  watch->connection = &connection;
  watch->number = connection.next_number();
  watch->pattern = Text(pattern != nullptr ? pattern : "*");
  watch->flags = flags;
  // Known before the request: its first events may arrive before its answer.
  connection.add_watch(*watch);
  Result<Answer> answer = connection.call({}, -1, [&](Builder& builder) {
    return wire::fb::CreateWatch(builder, watch->number, add_name(builder, watch->pattern.c_str()),
                                 flags, existing != 0);
  });
  if (!answer.ok()) {
    connection.remove_watch(*watch);
    return report_error(answer.error(), error);
  }
  connection.recycle(std::move(answer).value());
  connection.retain();
  *out = watch.release();
  return report_ok(error);
}

warpool_status warpool_watch_next(warpool_watch* watch, const warpool_wait* wait,
                                  warpool_event* out, warpool_error* error) {
  const Result<warpool_event> event = watch->connection->next_event(*watch, Patience::from(wait));
  if (!event.ok()) return report_error(event.error(), error);
  *out = event.value();
  return report_ok(error);
}

void warpool_watch_close(warpool_watch* watch) {
  if (watch == nullptr) return;
  Connection* connection = watch->connection;
  connection->remove_watch(*watch);
  connection->tell(
      [&](Builder& builder) { return wire::fb::CreateUnwatch(builder, watch->number); });
  delete watch;
  connection->release();
}
