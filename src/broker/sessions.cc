// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "broker/replies.h"

namespace warpool::broker {
namespace {

/// What a program says of itself is shown on other people's terminals: printable characters only, bounded.
std::string printable(std::string_view text, std::size_t bytes_max) {
  std::string result(text.substr(0, bytes_max));
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c < ' ' || c == 0x7F; }, '?');
  return result;
}

constexpr std::uint64_t kNsPerMs = 1'000'000;

}  // namespace

void Broker::on_hello(Session& session, std::uint64_t request, const wire::fb::Hello& hello) {
  session.library_version = printable(wire::text(hello.library_version()), 32);
  const std::uint16_t protocol = wire::negotiate(hello.protocol_min(), hello.protocol_max());
  if (protocol == 0) {
    const bool newer = hello.protocol_min() > wire::kProtocolMax;
    reply_error(
        session, request,
        Error::format(
            Code::kVersionMismatch,
            "this program uses libwarpool %s (protocol %u to %u), the broker is %s (protocol %u to "
            "%u); "
            "update the %s",
            session.library_version.c_str(), hello.protocol_min(), hello.protocol_max(),
            config_.version.c_str(), wire::kProtocolMin, wire::kProtocolMax,
            newer ? "broker, then run: warpool down && warpool up" : "library of this program"));
    return;
  }
  session.greeted = true;
  adopt_holder(session, hello.session());
  session.holder->language = printable(wire::text(hello.language()), kLanguageBytesMax);
  session.holder->label = printable(wire::text(hello.label()), kLabelBytesMax);
  session.run = printable(wire::text(hello.run()), kRunBytesMax);
  // From inside a container the kernel may show no pid; what the program says then serves people only.
  if (session.peer.pid == 0) session.holder->pid = hello.pid();
  std::vector<std::uint64_t> lost_drafts;
  restore(session, hello, lost_drafts);
  builder_.Clear();
  const auto version = wire::add_text(builder_, config_.version);
  const auto lost = builder_.CreateVector(lost_drafts);
  reply(session, request,
        wire::fb::CreateWelcome(builder_, protocol, version, catalogue_->root().epoch, session.id,
                                config_.is_private, lost));
}

/// A program that comes back to a restarted broker is still the maker of what it made: such arrays are charged to it, and those
/// that live as long as their maker stay.
void Broker::adopt_holder(Session& session, std::uint64_t earlier) {
  const auto found = recovered_holders_.find(earlier);
  if (found == recovered_holders_.end()) return;
  const std::shared_ptr<store::Holder> holder = found->second;
  const bool same =
      holder->uid == session.peer.uid && (session.peer.pid == 0 || session.peer.pid == holder->pid);
  if (!same) return;
  recovered_holders_.erase(found);
  holder->session = session.id;
  holder->alive = true;
  session.holder = holder;
}

/// After a lost connection the program says what it still holds.
void Broker::restore(Session& session, const wire::fb::Hello& hello,
                     std::vector<std::uint64_t>& lost_drafts) {
  for (const std::uint64_t id : wire::numbers(hello.held())) {
    store::Item* item = registry_.find(id);
    if (item != nullptr && may_read(session, *item)) add_view(session, *item);
  }
  if (hello.drafts() != nullptr) {
    for (const wire::fb::DraftClaim* claim : *hello.drafts()) {
      const Result<store::NameKey> key = resolve(session, wire::text(claim->name()));
      const std::uint64_t charge = os::round_to_page(std::min(claim->size(), kItemBytesMax));
      // The memory exists already, so it is charged even where a new draft would be refused; but no program can have had more
      // than the whole budget.
      if (key.ok() && session.drafts.size() < kDraftsPerSessionMax &&
          claim->size() <= kItemBytesMax && claim->draft() != 0 &&
          session.holder->drafts + charge <= config_.memory_limit &&
          session.drafts.try_emplace(claim->draft(), Draft{claim->size(), charge, key.value()})
              .second) {
        registry_.charge_draft(*session.holder, charge);
      } else {
        lost_drafts.push_back(claim->draft());
      }
    }
  }
  registry_.charge_spare(*session.holder, std::min(hello.spare(), config_.memory_limit));
}

void Broker::on_status(Session& session, std::uint64_t request) {
  builder_.Clear();
  const store::RootPage& root = catalogue_->root();
  const store::MemoryUse& memory = registry_.memory();
  const auto version = wire::add_text(builder_, config_.version);
  wire::fb::StatusReplyBuilder status(builder_);
  status.add_broker_version(version);
  status.add_broker_pid(config_.broker_pid);
  status.add_keeper_pid(keeper_pid_);
  status.add_epoch(root.epoch);
  status.add_restarts(root.restarts);
  status.add_memory_limit(config_.memory_limit);
  status.add_memory_published(memory.published);
  status.add_memory_drafts(memory.drafts);
  status.add_memory_spare(memory.spare);
  status.add_memory_viewed(memory.viewed);
  status.add_arrays(registry_.current_count());
  status.add_sessions(sessions_.size());
  status.add_uptime_ms(static_cast<std::uint64_t>(clock_.monotonic_ns() - started_ns_) / kNsPerMs);
  status.add_lost(root.lost);
  status.add_is_private(config_.is_private);
  reply(session, request, status.Finish());
}

std::string Broker::waiting_for(const Session& session) const {
  for (const auto& [request, key] : session.pending) {
    if (!key) return "memory";
    std::string text = "array " + key->name;
    if (key->owner_uid != session.peer.uid) text += " of user " + std::to_string(key->owner_uid);
    return text;
  }
  return {};
}

Broker::Ended Broker::facts_of(const Session& session) {
  const std::int64_t now = clock_.monotonic_ns();
  return {.session = session.id,
          .alive = true,
          .run = session.run,
          .language = session.holder->language,
          .label = session.holder->label,
          .command = session.peer.command,
          .container = session.peer.container,
          .waiting_for = waiting_for(session),
          .pid = session.holder->pid,
          .uid = session.peer.uid,
          .connected_ms = static_cast<std::uint64_t>(now - session.opened_ns) / kNsPerMs,
          .idle_ms = static_cast<std::uint64_t>(now - session.last_request_ns) / kNsPerMs,
          .memory_drafts = session.holder->drafts,
          .memory_spare = session.holder->spare,
          .memory_published = session.holder->published + session.holder->viewed,
          .counters = session.counters};
}

flatbuffers::Offset<wire::fb::SessionEntry> Broker::build_session(const Ended& facts) {
  std::vector<flatbuffers::Offset<wire::fb::CopyCount>> copies;
  for (std::size_t reason = 0; reason < std::size(facts.counters.copies); ++reason) {
    if (facts.counters.copies[reason] == 0) continue;
    copies.push_back(wire::fb::CreateCopyCount(builder_, static_cast<std::uint8_t>(reason),
                                               facts.counters.copies[reason],
                                               facts.counters.copied_bytes[reason]));
  }
  const auto copy_list = builder_.CreateVector(copies);
  const auto user = wire::add_text(builder_, user_name(facts.uid));
  const auto language = wire::add_text(builder_, facts.language);
  const auto label = wire::add_text(builder_, facts.label);
  const auto command = wire::add_text(builder_, facts.command);
  const auto container = wire::add_text(builder_, facts.container);
  const auto waiting = wire::add_text(builder_, facts.waiting_for);
  return wire::fb::CreateSessionEntry(
      builder_, facts.session, facts.pid, facts.uid, facts.alive, user, language, label, command,
      container, waiting, facts.connected_ms, facts.idle_ms, facts.memory_drafts,
      facts.memory_spare, facts.memory_published, facts.counters.arrays_published,
      facts.counters.arrays_got, facts.counters.bytes_published, facts.counters.bytes_got,
      facts.counters.bytes_shared, copy_list, facts.counters.waits, facts.counters.waited_ms);
}

void Broker::on_sessions(Session& session, std::uint64_t request, const wire::fb::Sessions& query) {
  const std::string run(wire::text(query.run()));
  std::vector<Ended> found;
  const auto wanted = [&](std::uint32_t uid, const std::string& of_run, SessionId id) {
    return (session.peer.admin || uid == session.peer.uid) && (run.empty() || of_run == run) &&
           id > query.cursor();
  };
  for (const auto& [id, other] : sessions_) {
    if (other->greeted && wanted(other->peer.uid, other->run, id))
      found.push_back(facts_of(*other));
  }
  if (!run.empty()) {
    for (const Ended& other : ended_) {
      if (wanted(other.uid, other.run, other.session)) found.push_back(other);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Ended& a, const Ended& b) { return a.session < b.session; });
  builder_.Clear();
  std::vector<flatbuffers::Offset<wire::fb::SessionEntry>> entries;
  std::uint64_t cursor = 0;
  for (const Ended& facts : found) {
    if (builder_.GetSize() > kListPageBytes) {
      cursor = found[entries.size() - 1].session;
      break;
    }
    entries.push_back(build_session(facts));
  }
  const auto list = builder_.CreateVector(entries);
  reply(session, request, wire::fb::CreateSessionEntries(builder_, list, cursor));
}

void Broker::on_shutdown(Session& session, std::uint64_t request, const wire::fb::Shutdown& query) {
  const bool owner = config_.is_private && session.peer.uid == config_.owner_uid;
  if (!session.peer.admin && !owner)
    return reply_error(session, request,
                       Error::format(Code::kPermissionDenied,
                                     "only its administrator may stop this broker, through its "
                                     "admin socket (warpool down as its owner)"));
  if (!query.force() && sessions_.size() > 1)
    return reply_error(
        session, request,
        Error::format(
            Code::kConflict,
            "%zu other programs are connected and %zu arrays are published; end them first, or "
            "use force (warpool down --force), which loses these arrays",
            sessions_.size() - 1, registry_.current_count()));
  stop_ = Stop::kRequested;
  reply_ok(session, request);
}

}  // namespace warpool::broker
