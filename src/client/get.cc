// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>

#include "client/drafts.h"
#include "os/process.h"
#include "store/item_codec.h"

namespace warpool::client {

// The C library's aligned allocation goes around its fast lists and costs several times a malloc, so the alignment is made here; the
// address to free lies in front of the memory.
std::byte* allocate_small(std::size_t bytes) {
  void* block = std::malloc(sizeof block + kAlignment + bytes);
  if (block == nullptr) return nullptr;
  const auto first = reinterpret_cast<std::uintptr_t>(block) + sizeof block;
  std::byte* memory = static_cast<std::byte*>(block) + sizeof block +
                      ((first + kAlignment - 1) / kAlignment * kAlignment - first);
  std::memcpy(memory - sizeof block, &block, sizeof block);
  return memory;
}

void free_small(std::byte* memory) {
  if (memory == nullptr) return;
  void* block = nullptr;
  std::memcpy(&block, memory - sizeof block, sizeof block);
  std::free(block);
}

namespace {

void export_parts(const std::vector<array::Part>& parts, const std::byte* data, ItemView& view) {
  view.paths.reserve(parts.size());
  view.parts.resize(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const array::Part& from = parts[i];
    warpool_part& to = view.parts[i];
    view.paths.push_back(from.path);
    to = {};
    to.path = view.paths[i].c_str();
    to.kind = static_cast<std::uint32_t>(from.kind);
    to.dtype = static_cast<std::uint32_t>(from.dtype);
    to.ndim = static_cast<std::uint32_t>(from.shape.size());
    std::copy(from.shape.begin(), from.shape.end(), to.shape);
    std::copy(from.strides.begin(), from.strides.end(), to.strides);
    to.offset = from.offset;
    to.data = data != nullptr && array::has_bytes(from.kind) ? data + from.offset : nullptr;
  }
}

/// Points the public struct at the texts and parts of the view.
void link_info(ItemView& view, const std::byte* data) {
  warpool_array_info& info = view.info;
  info.struct_size = sizeof info;
  info.name = view.name.c_str();
  info.owner = view.owner.c_str();
  info.attributes = view.attributes.c_str();
  info.maker_language = view.maker_language.c_str();
  info.maker_label = view.maker_label.c_str();
  info.part_count = static_cast<std::uint32_t>(view.parts.size());
  info.parts = view.parts.data();
  info.data = data;
}

/// Maps what came with an answer.
Result<warpool_array*> open_answer(Connection& connection, const Answer& answer) {
  const wire::fb::ItemState* state = answer.reply->body_as_ItemState();
  if (state == nullptr)
    return Error::format(Code::kProtocolError, "the broker answered without an array");
  WARPOOL_ASSIGN(const wire::fb::Item* const item, wire::read_item(wire::bytes(state->item())));
  auto array = std::unique_ptr<warpool_array>(new warpool_array());
  array->connection = &connection;
  array->id = item->id();
  const std::byte* data = nullptr;
  const std::uint64_t size = item->size();
  if (answer.fd.valid()) {
    WARPOOL_ASSIGN(array->mapping,
                   os::map_memfd(answer.fd, os::round_to_page(size), os::MapMode::kReadOnly));
    data = array->mapping.data();
  } else {
    const std::span<const std::uint8_t> contents = wire::bytes(item->contents());
    if (contents.size() != size || size > kInlineBytesMax)
      return Error::format(Code::kLimitReached,
                           "the file descriptor of array \"%s\" did not arrive: this process has "
                           "no free one; close some files, "
                           "or raise the limit (ulimit -n)",
                           item->name() != nullptr ? item->name()->c_str() : "");
    array->small = allocate_small(size);
    if (array->small == nullptr)
      return Error::format(Code::kOutOfMemory, "no memory for a small array");
    std::memcpy(array->small, contents.data(), contents.size());
    data = array->small;
  }
  const Result<void> read = read_item_state(*state, *item, data, array->view);
  if (!read.ok()) {
    free_small(array->small);
    return read.error();
  }
  return array.release();
}

/// The descriptor got lost or the item cannot be mapped: the broker counted a view that does not exist.
void give_back_view(Connection& connection, const Answer& answer) {
  const wire::fb::ItemState* state = answer.reply->body_as_ItemState();
  if (state == nullptr) return;
  const Result<const wire::fb::Item*> item = wire::read_item(wire::bytes(state->item()));
  if (!item.ok()) return;
  const std::uint64_t id = item.value()->id();
  connection.tell([&](Builder& builder) {
    return wire::fb::CreateRelease(builder, builder.CreateVector(&id, 1));
  });
}

void hold(Connection& connection, warpool_array& array) {
  connection.retain();
  if (array.mapping.valid()) connection.add_view(array);
}

Result<warpool_array*> get(Connection& connection, const char* name, std::uint64_t version,
                           const warpool_wait* wait) {
  if (name == nullptr) return Error::format(Code::kInvalidArgument, "warpool_get needs a name");
  const Patience patience = Patience::from(wait);
  Result<Answer> answer = connection.call(patience, -1, [&](Builder& builder) {
    const auto text = builder.CreateString(
        name, std::strlen(name) < 4 * kNameBytesMax ? std::strlen(name) : 4 * kNameBytesMax);
    return wire::fb::CreateGet(builder, text, version, patience.timeout_ms != 0);
  });
  if (!answer.ok()) return answer.take_error();
  Result<warpool_array*> array = open_answer(connection, answer.value());
  if (array.ok()) {
    hold(connection, *array.value());
  } else {
    give_back_view(connection, answer.value());
  }
  connection.recycle(std::move(answer).value());
  return array;
}

Result<std::byte*> copy_on_write(warpool_array& array) {
  if (std::byte* made = array.private_copy.load(std::memory_order_acquire)) return made;
  const std::size_t size = array.view.info.size;
  if (array.small != nullptr) {
    std::byte* copy = allocate_small(size);
    if (copy == nullptr)
      return Error::format(Code::kOutOfMemory, "no memory for a copy of a small array");
    std::memcpy(copy, array.small, size);
    std::byte* expected = nullptr;
    if (array.private_copy.compare_exchange_strong(expected, copy, std::memory_order_acq_rel))
      return copy;
    free_small(copy);
    return expected;
  }
  const std::uint64_t id = array.id;
  Result<Answer> answer = array.connection->call(
      {}, -1, [&](Builder& builder) { return wire::fb::CreateGetMemory(builder, id); });
  if (!answer.ok()) return answer.take_error();
  if (!answer.value().fd.valid())
    return Error::format(Code::kLimitReached,
                         "this process has no free file descriptor; close some files or raise the "
                         "limit (ulimit -n)");
  Result<os::Mapping> mapping =
      os::map_memfd(answer.value().fd, array.mapping.size(), os::MapMode::kWritablePrivate);
  array.connection->recycle(std::move(answer).value());
  if (!mapping.ok()) return mapping.take_error();
  std::byte* expected = nullptr;
  std::byte* data = mapping.value().data();
  if (!array.private_copy.compare_exchange_strong(expected, data, std::memory_order_acq_rel))
    return expected;
  array.private_mapping = std::move(mapping).value();
  return data;
}

}  // namespace

Result<void> read_item_state(const wire::fb::ItemState& state, const std::byte* data,
                             ItemView& view) {
  WARPOOL_ASSIGN(const wire::fb::Item* const item, wire::read_item(wire::bytes(state.item())));
  return read_item_state(state, *item, data, view);
}

Result<void> read_item_state(const wire::fb::ItemState& state, const wire::fb::Item& item,
                             const std::byte* data, ItemView& view) {
  WARPOOL_ASSIGN(const std::vector<array::Part> parts,
                 store::read_parts(item.parts(), item.size()));
  view.name = Text(wire::text(item.name()));
  view.owner = Text(wire::text(state.owner()));
  view.attributes = Text(wire::text(item.attributes()));
  view.maker_language = Text(wire::text(item.maker_language()));
  view.maker_label = Text(wire::text(item.maker_label()));
  export_parts(parts, data, view);
  warpool_array_info& info = view.info;
  info.flags = state.flags();
  info.id = item.id();
  info.version = item.version();
  info.owner_uid = item.owner_uid();
  info.mode = state.mode();
  info.size = item.size();
  info.created_unix_ns = item.created_unix_ns();
  info.expires_in_ms = state.expires_in_ms();
  info.viewers = state.viewers();
  info.maker_pid = item.maker_pid();
  info.maker_alive = state.maker_alive() ? 1 : 0;
  link_info(view, data);
  return {};
}

Result<warpool_array*> open_published(const DraftState& draft, const PublishedAs& as) {
  auto array = std::unique_ptr<warpool_array>(new warpool_array());
  Connection& connection = *draft.connection;
  array->connection = &connection;
  array->id = as.id;
  const std::byte* data = nullptr;
  if (draft.number != 0) {
    WARPOOL_ASSIGN(array->mapping,
                   os::map_memfd(draft.fd, os::round_to_page(draft.size), os::MapMode::kReadOnly));
    data = array->mapping.data();
  } else {
    array->small = allocate_small(draft.size);
    if (array->small == nullptr)
      return Error::format(Code::kOutOfMemory, "no memory for a small array");
    std::memcpy(array->small, draft.memory->small, draft.size);
    data = array->small;
  }
  ItemView& view = array->view;
  view.name = draft.name;
  view.attributes = draft.attributes;
  view.owner = os::user_name(os::effective_user());
  export_parts(draft.parts, data, view);
  view.info.flags = draft.flags | (draft.number == 0 ? std::uint32_t{WARPOOL_ARRAY_INLINE} : 0U);
  view.info.id = as.id;
  view.info.version = as.version;
  view.info.owner_uid = os::effective_user();
  view.info.mode = draft.mode != 0 ? draft.mode | 0400U : 0600U;
  view.info.size = draft.size;
  view.info.created_unix_ns = as.created_unix_ns;
  view.info.expires_in_ms = draft.ttl_ms > 0 ? draft.ttl_ms : -1;
  view.info.viewers = draft.number != 0 ? 1 : 0;
  view.info.maker_pid = os::process_id();
  view.info.maker_alive = 1;
  link_info(view, data);
  hold(connection, *array);
  return array.release();
}

}  // namespace warpool::client

using namespace warpool;
using namespace warpool::client;

warpool_status warpool_get(warpool_connection* connection, const char* name, uint64_t version,
                           const warpool_wait* wait, warpool_array** out, warpool_error* error) {
  const Result<warpool_array*> array = get(*from_handle(connection), name, version, wait);
  if (!array.ok()) return report_error(array.error(), error);
  *out = array.value();
  return report_ok(error);
}

const warpool_array_info* warpool_array_get_info(const warpool_array* array) {
  return &array->view.info;
}

void warpool_array_retain(warpool_array* array) {
  array->references.fetch_add(1, std::memory_order_relaxed);
}

void warpool_array_release(warpool_array* array) {
  if (array == nullptr || array->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Connection* connection = array->connection;
  if (array->mapping.valid()) {
    array->mapping = os::Mapping();  // gone before the broker hears of it
    array->private_mapping = os::Mapping();
    connection->drop_view(*array);
  }
  if (array->small != nullptr) free_small(array->private_copy.load(std::memory_order_relaxed));
  free_small(array->small);
  delete array;
  connection->release();
}

warpool_status warpool_array_copy_on_write(warpool_array* array, void** data,
                                           warpool_error* error) {
  const Result<std::byte*> copy = copy_on_write(*array);
  if (!copy.ok()) return report_error(copy.error(), error);
  *data = copy.value();
  return report_ok(error);
}
