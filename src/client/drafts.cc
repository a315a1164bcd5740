// SPDX-License-Identifier: Apache-2.0
// create -> fill -> publish, without a copy from birth. docs/design/publish.md explains the order of the steps.
#include "client/drafts.h"

#include <cstring>

#include "client/spare.h"
#include "os/file.h"
#include "store/item_codec.h"

namespace warpool::client {
namespace {

void count_late_writes(const warpool_memory& memory) {
  if (!memory.published || memory.connection == nullptr) return;
  const std::uint64_t bytes = os::private_bytes(memory.mapping);
  if (bytes > 0) memory.connection->count_copy(WARPOOL_COPY_LATE_WRITE, bytes);
}

Result<Answer> ask_for_memory(Connection& connection, const DraftState& draft,
                              const Patience& patience) {
  return connection.call(patience, -1, [&](Builder& builder) {
    const auto name = wire::add_text(builder, draft.name.view());
    return wire::fb::CreateCreate(builder, draft.number, name, draft.size,
                                  patience.timeout_ms != 0);
  });
}

/// The broker's permission for `size` bytes. A spare of this size becomes the memory, so it stops being charged first.
Result<void> reserve(Connection& connection, DraftState& draft, const warpool_wait* wait) {
  const std::uint64_t pages = os::round_to_page(draft.size);
  if (connection.spare().ready(pages))
    connection.tell([](Builder& builder) { return wire::fb::CreateSpare(builder, 0); });
  const Patience patience = Patience::from(wait);
  Result<Answer> answer = ask_for_memory(connection, draft, {});
  if (!answer.ok() && answer.error().code == Code::kOutOfMemory) {
    // What this session keeps for comfort must not stand in its own way.
    connection.spare().stop();
    answer = ask_for_memory(connection, draft, patience);
  }
  if (!answer.ok()) {
    // The permission may have come with the interruption. Unknown drafts are ignored.
    if (answer.error().code == Code::kInterrupted)
      connection.tell(
          [&](Builder& builder) { return wire::fb::CreateDiscard(builder, draft.number); });
    return answer.take_error();
  }
  connection.recycle(std::move(answer).value());
  return {};
}

}  // namespace

Result<std::unique_ptr<warpool_draft>> new_draft(Connection& connection, const char* name,
                                                 std::vector<array::Part> parts,
                                                 const warpool_create_options* options) {
  if (name == nullptr) return Error::format(Code::kInvalidArgument, "an array needs a name");
  WARPOOL_TRY(array::check_name(name));
  if (options != nullptr && options->struct_size < sizeof(warpool_create_options))
    return Error::format(Code::kInvalidArgument,
                         "options must be made with WARPOOL_CREATE_OPTIONS_INIT");
  auto draft = std::unique_ptr<warpool_draft>(new warpool_draft());
  draft->connection = &connection;
  draft->name = Text(name);
  draft->parts = std::move(parts);
  WARPOOL_ASSIGN(draft->size, array::place(draft->parts));
  WARPOOL_TRY(array::validate(draft->parts, draft->size));
  draft->token = connection.next_token();
  if (options != nullptr) {
    draft->mode = options->mode;
    draft->flags = options->flags;
    draft->ttl_ms = options->ttl_ms;
    if (options->attributes != nullptr) draft->attributes = Text(options->attributes);
  }
  if (draft->attributes.size() > kAttributesBytesMax)
    return Error::format(Code::kLimitReached,
                         "the attributes of \"%s\" have %zu bytes, at most %zu are possible", name,
                         draft->attributes.size(), kAttributesBytesMax);
  if ((draft->mode & ~0644U) != 0)
    return Error::format(Code::kInvalidArgument,
                         "mode %04o has bits without meaning; use 0600, 0640 or 0644", draft->mode);
  if (draft->ttl_ms < 0)
    return Error::format(Code::kInvalidArgument, "a time to live cannot be negative");
  if (draft->size > kInlineBytesMax) {
    draft->number = connection.next_token();
    WARPOOL_TRY(reserve(connection, *draft, options != nullptr ? options->wait : nullptr));
  }
  connection.retain();
  if (draft->number != 0) connection.add_draft(*draft);
  return draft;
}

Result<void> give_memory(DraftState& draft) {
  auto memory = std::unique_ptr<warpool_memory>(new warpool_memory());
  memory->connection = draft.connection;
  memory->size = draft.size;
  if (draft.number == 0) {
    memory->small = allocate_small(draft.size);
    if (memory->small == nullptr)
      return Error::format(Code::kOutOfMemory, "no memory for %llu bytes",
                           static_cast<unsigned long long>(draft.size));
    // The gaps between parts travel too.
    std::memset(memory->small, 0, draft.size);
  } else {
    Spare::Memory spare;
    if (draft.connection->spare().take(os::round_to_page(draft.size), spare)) {
      draft.fd = std::move(spare.fd);
      memory->mapping = std::move(spare.mapping);
    } else {
      const std::uint64_t pages = os::round_to_page(draft.size);
      WARPOOL_ASSIGN(draft.fd, os::create_memfd("warpool-array", pages));
      WARPOOL_TRY(os::allocate_pages(draft.fd, pages));
      WARPOOL_ASSIGN(memory->mapping, os::map_memfd(draft.fd, pages, os::MapMode::kWritableShared));
      os::exclude_from_fork(memory->mapping);
    }
  }
  draft.connection->retain();
  draft.memory = memory.release();
  return {};
}

void drop_draft(warpool_draft* draft, bool tell_broker) {
  Connection& connection = *draft->connection;
  if (draft->number != 0) {
    connection.remove_draft(*draft);
    const std::uint64_t number = draft->number;
    if (tell_broker)
      connection.tell([&](Builder& builder) { return wire::fb::CreateDiscard(builder, number); });
  }
  warpool_memory_release(draft->memory);
  delete draft;
  connection.release();
}

/// After this the bytes cannot change any more. Pinned pages or a foreign mapping cost one copy, which is counted.
Result<void> seal(DraftState& draft) {
  if (draft.sealed || draft.number == 0) return {};
  if (draft.memory != nullptr) WARPOOL_TRY(os::make_private(draft.memory->mapping, draft.fd));
  WARPOOL_ASSIGN(const os::SealOutcome outcome, os::seal_writes(draft.fd));
  if (outcome == os::SealOutcome::kBusy) {
    const std::uint64_t pages = os::round_to_page(draft.size);
    WARPOOL_ASSIGN(os::Fd copy, os::create_memfd("warpool-array", pages));
    WARPOOL_TRY(os::write_at(copy, draft.memory->data(), pages, 0));
    WARPOOL_ASSIGN(const os::SealOutcome again, os::seal_writes(copy));
    if (again == os::SealOutcome::kBusy)
      return Error::format(Code::kIoError, "a fresh copy of the array cannot be sealed");
    draft.fd = std::move(copy);
    draft.connection->count_copy(WARPOOL_COPY_PUBLISH_BUSY, draft.size);
  }
  draft.sealed = true;
  if (draft.memory != nullptr) draft.memory->published = true;
  return {};
}

Result<PublishedAs> publish_draft(DraftState& draft, bool view, bool put) {
  if (draft.lost)
    return Error::format(Code::kLost,
                         "\"%s\" cannot be published here: its memory belongs to the parent "
                         "process, or the broker could "
                         "not take it back; create it again",
                         draft.name.c_str());
  WARPOOL_TRY(seal(draft));
  Connection& connection = *draft.connection;
  const auto send = [&](Builder& builder) {
    const auto name = wire::add_text(builder, draft.name.view());
    const auto parts = store::add_parts(builder, draft.parts);
    const auto attributes = wire::add_text(builder, draft.attributes.view());
    flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> contents;
    if (draft.number == 0) {
      builder.ForceVectorAlignment(draft.size, 1, 16);
      contents = builder.CreateVector(reinterpret_cast<const std::uint8_t*>(draft.memory->small),
                                      draft.size);
    }
    return wire::fb::CreatePublish(builder, draft.number, name, draft.size, parts, attributes,
                                   draft.mode, draft.flags, draft.ttl_ms, contents, draft.token,
                                   view && draft.number != 0, put);
  };
  Result<Answer> answer = connection.call({}, draft.fd.get(), send);
  if (!answer.ok() && answer.error().code == Code::kLost && draft.number != 0) {
    // The broker was lost just after it had permitted the draft, and another thread reconnected before this one was on the list.
    WARPOOL_TRY(ask_for_memory(connection, draft, {}));
    answer = connection.call({}, draft.fd.get(), send);
  }
  if (!answer.ok()) return answer.take_error();
  const wire::fb::Published* published = answer.value().reply->body_as_Published();
  if (published == nullptr)
    return Error::format(Code::kProtocolError,
                         "the broker did not say how the array was published");
  const PublishedAs as{published->id(), published->version(), published->created_unix_ns()};
  connection.recycle(std::move(answer).value());
  if (draft.number == 0) connection.count_copy(WARPOOL_COPY_INLINE, draft.size);
  return as;
}

}  // namespace warpool::client

using namespace warpool;
using namespace warpool::client;

warpool_status warpool_create(warpool_connection* connection, const char* name,
                              const warpool_part* parts, uint32_t part_count,
                              const warpool_create_options* options, warpool_draft** out,
                              warpool_error* error) {
  if (out == nullptr)
    return report_error(
        Error::format(Code::kInvalidArgument, "warpool_create needs a place for the draft"), error);
  Result<std::vector<array::Part>> imported = import_parts(parts, part_count);
  if (!imported.ok()) return report_error(imported.error(), error);
  for (const array::Part& part : imported.value()) {
    if (array::has_bytes(part.kind) && !array::is_compact(part))
      return report_error(
          Error::format(
              Code::kInvalidArgument,
              "\"%s\" has strides that leave gaps; a new array must be compact (use C or F order)",
              name),
          error);
  }
  Result<std::unique_ptr<warpool_draft>> draft =
      new_draft(*from_handle(connection), name, std::move(imported).value(), options);
  if (!draft.ok()) return report_error(draft.error(), error);
  const Result<void> given = give_memory(*draft.value());
  if (!given.ok()) {
    drop_draft(draft.value().release(), true);
    return report_error(given.error(), error);
  }
  *out = draft.value().release();
  return report_ok(error);
}

void* warpool_draft_data(warpool_draft* draft, uint32_t index) {
  if (index >= draft->parts.size() || !array::has_bytes(draft->parts[index].kind)) return nullptr;
  return draft->memory->data() + draft->parts[index].offset;
}

warpool_status warpool_publish(warpool_draft* draft, warpool_array** array, uint64_t* version,
                               warpool_error* error) {
  const Result<PublishedAs> published = publish_draft(*draft, array != nullptr, false);
  if (!published.ok()) return report_error(published.error(), error);
  if (array != nullptr) {
    Result<warpool_array*> opened = open_published(*draft, published.value());
    if (!opened.ok()) return report_error(opened.error(), error);
    *array = opened.value();
  }
  if (version != nullptr) *version = published.value().version;
  drop_draft(draft, false);
  return report_ok(error);
}

void warpool_discard(warpool_draft* draft) {
  if (draft != nullptr) drop_draft(draft, true);
}

warpool_memory* warpool_draft_retain_memory(warpool_draft* draft) {
  draft->memory->references.fetch_add(1, std::memory_order_relaxed);
  return draft->memory;
}

void warpool_memory_release(warpool_memory* memory) {
  if (memory == nullptr || memory->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  count_late_writes(*memory);
  free_small(memory->small);
  Connection* connection = memory->connection;
  delete memory;
  connection->release();
}
