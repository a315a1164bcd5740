// SPDX-License-Identifier: Apache-2.0
#include "client/state.h"

struct warpool_sessions {
  struct Entry {
    warpool::Text user, language, label, command, container, waiting_for;
    warpool_session_info info{};
  };
  std::vector<std::unique_ptr<Entry>> entries;
};

namespace warpool::client {
namespace {

std::unique_ptr<warpool_sessions::Entry> read_session(const wire::fb::SessionEntry& from) {
  auto entry = std::unique_ptr<warpool_sessions::Entry>(new warpool_sessions::Entry());
  entry->user = Text(wire::text(from.user()));
  entry->language = Text(wire::text(from.language()));
  entry->label = Text(wire::text(from.label()));
  entry->command = Text(wire::text(from.command()));
  entry->container = Text(wire::text(from.container()));
  entry->waiting_for = Text(wire::text(from.waiting_for()));
  warpool_session_info& info = entry->info;
  info.struct_size = sizeof info;
  info.pid = from.pid();
  info.session = from.session();
  info.uid = from.uid();
  info.alive = from.alive() ? 1 : 0;
  info.user = entry->user.c_str();
  info.language = entry->language.c_str();
  info.label = entry->label.c_str();
  info.command = entry->command.c_str();
  info.container = entry->container.c_str();
  info.waiting_for = entry->waiting_for.c_str();
  info.connected_ms = from.connected_ms();
  info.idle_ms = from.idle_ms();
  info.memory_drafts = from.memory_drafts();
  info.memory_spare = from.memory_spare();
  info.memory_published = from.memory_published();
  info.arrays_published = from.arrays_published();
  info.arrays_got = from.arrays_got();
  info.bytes_published = from.bytes_published();
  info.bytes_got = from.bytes_got();
  info.bytes_shared = from.bytes_shared();
  info.waits = from.waits();
  info.waited_ms = from.waited_ms();
  if (from.copies() == nullptr) return entry;
  for (const wire::fb::CopyCount* copy : *from.copies()) {
    if (copy->reason() >= WARPOOL_COPY_REASONS) continue;
    info.copies[copy->reason()] = copy->count();
    info.copied_bytes[copy->reason()] = copy->bytes();
  }
  return entry;
}

Result<std::unique_ptr<warpool_sessions>> list_sessions(Connection& connection, const char* run) {
  auto sessions = std::unique_ptr<warpool_sessions>(new warpool_sessions());
  std::uint64_t cursor = 0;
  do {
    Result<Answer> answer = connection.call({}, -1, [&](Builder& builder) {
      return wire::fb::CreateSessions(builder, builder.CreateString(run != nullptr ? run : ""),
                                      cursor);
    });
    if (!answer.ok()) return answer.take_error();
    const wire::fb::SessionEntries* page = answer.value().reply->body_as_SessionEntries();
    if (page == nullptr)
      return Error::format(Code::kProtocolError, "the broker gave no list of programs");
    if (page->sessions() != nullptr) {
      for (const wire::fb::SessionEntry* entry : *page->sessions())
        sessions->entries.push_back(read_session(*entry));
    }
    cursor = page->cursor();
    connection.recycle(std::move(answer).value());
  } while (cursor != 0);
  return sessions;
}

}  // namespace
}  // namespace warpool::client

using namespace warpool;
using namespace warpool::client;

warpool_status warpool_list_sessions(warpool_connection* connection, const char* run,
                                     warpool_sessions** out, warpool_error* error) {
  Result<std::unique_ptr<warpool_sessions>> sessions = list_sessions(*from_handle(connection), run);
  if (!sessions.ok()) return report_error(sessions.error(), error);
  *out = std::move(sessions).value().release();
  return report_ok(error);
}

size_t warpool_sessions_count(const warpool_sessions* sessions) {
  return sessions->entries.size();
}

const warpool_session_info* warpool_sessions_get(const warpool_sessions* sessions, size_t index) {
  return index < sessions->entries.size() ? &sessions->entries[index]->info : nullptr;
}

void warpool_sessions_free(warpool_sessions* sessions) {
  delete sessions;
}
