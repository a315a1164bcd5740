// SPDX-License-Identifier: Apache-2.0
// The broker: sessions, arrays, budgets, waits and watches, as reactions to messages. No socket, no thread, no clock of its own,
// never blocks. All state belongs to the one thread that calls it.
//
//   open -> receive* -> closed         one session
//   tick(now)                          whatever is due; says when it wants to be called next
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "array/layout.h"
#include "base/report.h"
#include "broker/ports.h"
#include "store/names_file.h"
#include "store/registry.h"
#include "wire/codec.h"

namespace warpool::broker {

using SessionId = std::uint64_t;

/// How the daemon is asked to end.
enum class Stop : std::uint8_t { kNo, kRequested };

class Broker {
 public:
  struct Dependencies {
    Clock& clock;
    Report& report;
    store::KeeperPort& keeper;
  };

  /// Starts empty, or with what the keeper held (`held` non-empty). Other descriptors than catalogue and items stay in `held`.
  static Result<std::unique_ptr<Broker>> start(const Config& config,
                                               const Dependencies& dependencies,
                                               std::vector<store::HeldFd>& held);
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  /// The port must live until closed() or until the broker calls close() on it.
  Result<SessionId> open(const Peer& peer, SessionPort& port);
  /// One message of a session. May end sessions, this one included.
  void receive(SessionId session, std::span<const std::uint8_t> message, std::vector<os::Fd> fds);
  void closed(SessionId session);
  /// The program has read again: what waits for room may go.
  void drained(SessionId session);
  /// Does what is due and returns the monotonic time of the next call, or -1.
  std::int64_t tick();

  [[nodiscard]] Stop stop_requested() const { return stop_; }
  /// Removes what a clean end must not leave behind.
  void clean_up();
  [[nodiscard]] std::size_t session_count() const { return sessions_.size(); }
  [[nodiscard]] std::size_t array_count() const { return registry_.current_count(); }
  [[nodiscard]] const store::MemoryUse& memory() const { return registry_.memory(); }
  /// Bytes that the catalogue itself occupies.
  [[nodiscard]] std::uint64_t catalogue_bytes() const { return catalogue_->memory_bytes(); }
  void set_keeper_pid(std::int32_t pid);
  /// Hands everything to a new keeper.
  void hold_all(store::KeeperPort& keeper);
  /// Checks that accounts, indexes and catalogue agree; for tests. Returns what does not.
  std::string check_invariants();

 private:
  struct Session;
  struct Draft {
    std::uint64_t size = 0;
    std::uint64_t charge = 0;
    store::NameKey key;
  };
  struct Watch {
    std::string pattern;
    std::optional<std::uint32_t> owner;  ///< none: everybody's that may be read
    bool overflowed = false;
  };
  struct PendingGet {
    SessionId session;
    std::uint64_t request;
    std::uint64_t version;
    std::int64_t since_ns;
  };
  struct PendingCreate {
    SessionId session;
    std::uint64_t request;
    std::uint64_t draft;
    std::uint64_t size;
    store::NameKey key;
  };
  struct Counters {
    std::uint64_t arrays_published = 0, arrays_got = 0, bytes_published = 0, bytes_got = 0,
                  bytes_shared = 0;
    std::uint64_t waits = 0, waited_ms = 0;
    std::uint64_t copies[8] = {}, copied_bytes[8] = {};
  };
  struct Ended;
  struct Deferred {
    std::vector<std::uint8_t> message;
    std::uint64_t
        item;  ///< whose memory goes with it; no descriptor of its own, or a slow reader would use them up
  };

  Broker(const Config& config, const Dependencies& dependencies);
  Result<void> recover(std::vector<store::HeldFd>& held);
  void adopt_items(std::vector<store::HeldFd>& held);
  void adopt_item(store::RecordRef ref, store::RecordHeader& header,
                  std::unordered_map<std::uint64_t, os::Fd>& fds);
  void start_names_file();

  // Dispatch (broker.cc).
  void dispatch(Session& session, const wire::fb::Request& request, std::vector<os::Fd>& fds);
  void note_counters(Session& session, const wire::fb::Request& request);
  Session* find(SessionId id);
  void end_session(SessionId id, const char* why);

  // Replies (replies.cc).
  void reply_ok(Session& session, std::uint64_t request);
  void reply_error(Session& session, std::uint64_t request, const Error& error);
  template <typename Body>
  void reply(Session& session, std::uint64_t request, flatbuffers::Offset<Body> body,
             const store::Item* memory = nullptr);
  void send(Session& session, const store::Item* memory);
  void flush_deferred(Session& session);
  flatbuffers::Offset<wire::fb::ItemState> build_item_state(const store::Item& item);
  flatbuffers::Offset<wire::fb::ItemState> build_item_state(const store::Item& item,
                                                            std::span<const std::uint8_t> blob);
  /// The same without the contents of small items.
  flatbuffers::Offset<wire::fb::ItemState> build_listed_item(const store::Item& item);
  std::string_view user_name(std::uint32_t uid);

  // Sessions (sessions.cc).
  void on_hello(Session& session, std::uint64_t request, const wire::fb::Hello& hello);
  void adopt_holder(Session& session, std::uint64_t earlier);
  void restore(Session& session, const wire::fb::Hello& hello,
               std::vector<std::uint64_t>& lost_drafts);
  void on_status(Session& session, std::uint64_t request);
  void on_sessions(Session& session, std::uint64_t request, const wire::fb::Sessions& query);
  void on_shutdown(Session& session, std::uint64_t request, const wire::fb::Shutdown& query);
  flatbuffers::Offset<wire::fb::SessionEntry> build_session(const Ended& facts);
  Ended facts_of(const Session& session);
  std::string waiting_for(const Session& session) const;

  // Arrays (arrays.cc, get.cc).
  void on_create(Session& session, std::uint64_t request, const wire::fb::Create& create);
  bool try_create(const PendingCreate& create);
  void on_discard(Session& session, const wire::fb::Discard& discard);
  void on_publish(Session& session, std::uint64_t request, const wire::fb::Publish& publish,
                  bool repeated, std::vector<os::Fd>& fds);
  Result<store::Item*> publish(Session& session, const wire::fb::Publish& publish,
                               std::vector<os::Fd>& fds);
  Result<std::uint64_t> check_contents(const Session& session, const wire::fb::Publish& publish,
                                       const std::vector<os::Fd>& fds);
  Result<store::RecordRef> write_record(const store::Item& item, std::span<const array::Part> parts,
                                        const wire::fb::Publish& publish, const Session& session,
                                        std::string_view name);
  void retire(std::uint64_t id, store::RecordRef record, store::Registry::Gone gone,
              bool had_memory);
  void note_name(const store::Item& item);
  void after_publish(store::Item& item);
  void answer_waiting(std::uint64_t id, const store::NameKey& name);
  static Error repeated_number();
  void on_get(Session& session, std::uint64_t request, const wire::fb::Get& get);
  void on_get_memory(Session& session, std::uint64_t request, const wire::fb::GetMemory& get);
  void give(Session& session, std::uint64_t request, store::Item& item);
  void on_release(Session& session, const wire::fb::Release& release);
  void drop_view(Session& session, std::uint64_t id);
  void add_view(Session& session, store::Item& item);
  void on_cancel(Session& session, const wire::fb::Cancel& cancel);
  void on_remove(Session& session, std::uint64_t request, const wire::fb::Remove& remove,
                 bool repeated);
  void on_chmod(Session& session, std::uint64_t request, const wire::fb::Chmod& chmod);
  void on_expire(Session& session, std::uint64_t request, const wire::fb::Expire& expire);
  void set_expiry(store::Item& item, std::int64_t ttl_ms);
  void forget_expiry(std::int64_t expires_ns, std::uint64_t id);
  void remove_item(store::Item& item);
  void drop_unused_items(const store::Holder& maker);
  void pump_creates();
  Error refuse_memory(std::uint64_t bytes, std::string_view name);
  Error explain_missing(const Session& session, const store::NameKey& key, std::uint64_t version,
                        std::int64_t since_ns);
  bool may_read(const Session& session, const store::Item& item) const;
  Result<store::NameKey> resolve(const Session& session, std::string_view qualified);
  Result<store::Item*> find_own(const Session& session, std::string_view qualified,
                                std::uint64_t version);
  void tell_watchers(std::uint64_t item_id, std::uint8_t kind);

  // Listings and watches (listing.cc).
  void on_list(Session& session, std::uint64_t request, const wire::fb::List& query);
  void on_stat(Session& session, std::uint64_t request, const wire::fb::Stat& query);
  void on_watch(Session& session, std::uint64_t request, const wire::fb::Watch& query);
  bool send_event(Session& session, std::uint64_t watch_id, Watch& watch, const store::Item& item,
                  std::uint8_t kind);
  Result<std::string> check_pattern(std::string_view pattern, std::string_view& owner);

  Config config_;
  Clock& clock_;
  Report& report_;
  store::KeeperPort* keeper_;
  std::int32_t keeper_pid_ = 0;
  std::unique_ptr<store::Catalogue> catalogue_;
  store::Registry registry_;
  std::optional<store::NamesFile> names_file_;
  std::unordered_map<SessionId, std::unique_ptr<Session>> sessions_;
  std::unordered_map<std::uint32_t, std::uint32_t> sessions_per_user_;
  std::map<store::NameKey, std::list<PendingGet>> pending_gets_;
  std::list<PendingCreate> pending_creates_;
  std::multimap<std::int64_t, std::uint64_t> expiries_;  ///< time -> id of a current item
  std::set<std::uint64_t> while_used_;  ///< ids of items that go with their maker and viewers
  /// Names whose array ended with an earlier broker and keeper, until somebody publishes them again -> version.
  std::map<store::NameKey, std::uint64_t> lost_names_;
  std::deque<Ended> ended_;  ///< sessions of runs, for their summaries
  std::unordered_map<std::uint32_t, std::string> user_names_;
  std::unordered_map<std::uint64_t, std::shared_ptr<store::Holder>>
      recovered_holders_;  ///< by the session that made items
  std::uint64_t items_with_memory_ = 0;
  std::int64_t started_ns_ = 0;
  std::int64_t recovery_ends_ns_ =
      0;  ///< until then viewers of removed items may come back; 0: no recovery
  Stop stop_ = Stop::kNo;
  flatbuffers::FlatBufferBuilder builder_{4096};         ///< of the message that is sent next
  flatbuffers::FlatBufferBuilder record_builder_{4096};  ///< of the record that is written next
};

}  // namespace warpool::broker
