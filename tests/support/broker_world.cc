// SPDX-License-Identifier: Apache-2.0
#include "broker_world.h"

namespace warpool::testing {

Result<void> Program::open() {
  port = Loopback();
  Result<broker::SessionId> opened = world_.core->open(peer_, port);
  if (!opened.ok()) return opened.take_error();
  session = opened.value();
  return {};
}

Answer Program::connect(std::vector<std::uint64_t> held, std::vector<std::uint64_t> drafts,
                        std::uint64_t draft_bytes, std::uint64_t spare_bytes) {
  session_before = session;
  const Result<void> opened = open();
  EXPECT_TRUE(opened.ok()) << opened.error().message.c_str();
  return call([&](Builder& builder) {
    std::vector<flatbuffers::Offset<fb::DraftClaim>> claims;
    for (const std::uint64_t draft : drafts)
      claims.push_back(
          fb::CreateDraftClaim(builder, draft, draft_bytes, wire::add_text(builder, "draft")));
    const auto held_list = builder.CreateVector(held);
    const auto claim_list = builder.CreateVector(claims);
    const auto version = wire::add_text(builder, "1.2.3");
    const auto language_text = wire::add_text(builder, language);
    const auto label_text = wire::add_text(builder, label);
    const auto run_text = wire::add_text(builder, run);
    return fb::CreateHello(builder, wire::kProtocolMin, wire::kProtocolMax, version, language_text,
                           label_text, run_text, peer_.pid, held_list, claim_list, spare_bytes,
                           session_before);
  });
}

void Program::disconnect() {
  if (session == 0 || port.closed) return;
  world_.core->closed(session);
  port.closed = true;
  world_.check();
}

void Program::deliver(std::span<const std::uint8_t> message, std::vector<os::Fd> fds) {
  const AlignedMessage copy(message);
  world_.core->receive(session, copy.bytes(), std::move(fds));
  world_.check();
}

Answer Program::take(std::uint64_t request) {
  for (auto answer = port.answers.begin(); answer != port.answers.end(); ++answer) {
    if (answer->reply->id() != request) continue;
    Answer found = std::move(*answer);
    port.answers.erase(answer);
    return found;
  }
  return {};
}

Answer Program::put(const std::string& name, std::size_t bytes, PutOptions options) {
  return call(
      [&](Builder& builder) {
        const auto name_text = wire::add_text(builder, name);
        const auto parts = store::add_parts(builder, bytes_part(bytes));
        const std::vector<std::uint8_t> contents(bytes, 7);
        builder.ForceVectorAlignment(bytes, 1, 16);
        const auto contents_list = builder.CreateVector(contents);
        return fb::CreatePublish(builder, 0, name_text, bytes, parts, 0, options.mode,
                                 options.flags, options.ttl_ms, contents_list, options.token, false,
                                 true);
      },
      options.repeated);
}

Answer Program::create(std::uint64_t draft, const std::string& name, std::uint64_t bytes,
                       bool wait) {
  return call([&](Builder& builder) {
    return fb::CreateCreate(builder, draft, wire::add_text(builder, name), bytes, wait);
  });
}

Answer Program::publish_with(std::uint64_t draft, const std::string& name, std::uint64_t bytes,
                             std::vector<os::Fd> fds, PutOptions options) {
  return call(
      [&](Builder& builder) {
        const auto name_text = wire::add_text(builder, name);
        const auto parts = store::add_parts(builder, bytes_part(bytes));
        return fb::CreatePublish(builder, draft, name_text, bytes, parts, 0, options.mode,
                                 options.flags, options.ttl_ms, 0, options.token, options.view,
                                 false);
      },
      options.repeated, std::move(fds));
}

Answer Program::publish(std::uint64_t draft, const std::string& name, std::uint64_t bytes,
                        PutOptions options) {
  std::vector<os::Fd> fds;
  fds.push_back(sealed_memory(bytes));
  return publish_with(draft, name, bytes, std::move(fds), options);
}

Answer Program::share(const std::string& name, std::uint64_t bytes, PutOptions options) {
  const std::uint64_t draft = 1'000'000 + next_request_;
  const Answer created = create(draft, name, bytes);
  if (!created.ok()) return created;
  return publish(draft, name, bytes, options);
}

Answer Program::get(const std::string& name, std::uint64_t version, bool wait) {
  return call([&](Builder& builder) {
    return fb::CreateGet(builder, wire::add_text(builder, name), version, wait);
  });
}

Answer Program::cancel(std::uint64_t request, bool timed_out) {
  send([&](Builder& builder) { return fb::CreateCancel(builder, request, timed_out); });
  return take(request);
}

Answer Program::remove(const std::string& name, std::uint64_t version, bool repeated) {
  return call(
      [&](Builder& builder) {
        return fb::CreateRemove(builder, wire::add_text(builder, name), version);
      },
      repeated);
}

Answer Program::chmod(const std::string& name, std::uint32_t mode) {
  return call([&](Builder& builder) {
    return fb::CreateChmod(builder, wire::add_text(builder, name), mode);
  });
}

Answer Program::expire(const std::string& name, std::int64_t ttl_ms) {
  return call([&](Builder& builder) {
    return fb::CreateExpire(builder, wire::add_text(builder, name), ttl_ms);
  });
}

Answer Program::list(const std::string& pattern, std::uint32_t flags, const std::string& cursor) {
  return call([&](Builder& builder) {
    const auto pattern_text = wire::add_text(builder, pattern);
    return fb::CreateList(builder, pattern_text, flags, wire::add_text(builder, cursor));
  });
}

Answer Program::stat(const std::string& name, std::uint64_t version) {
  return call([&](Builder& builder) {
    return fb::CreateStat(builder, wire::add_text(builder, name), version);
  });
}

Answer Program::watch(std::uint64_t number, const std::string& pattern, std::uint32_t flags,
                      bool existing) {
  return call([&](Builder& builder) {
    return fb::CreateWatch(builder, number, wire::add_text(builder, pattern), flags, existing);
  });
}

std::string Program::take_events() {
  std::string text;
  for (const Answer& one : port.events) {
    const fb::WatchEvent& event = *one.reply->body_as_WatchEvent();
    if (!text.empty()) text += ", ";
    if (event.kind() == 3) {
      text += "O";
      continue;
    }
    text += event.kind() == 1 ? "P " : "R ";
    text += std::string(wire::text(event.name())) + " " + std::to_string(event.version());
  }
  port.events.clear();
  return text;
}

}  // namespace warpool::testing
