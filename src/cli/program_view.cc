// SPDX-License-Identifier: Apache-2.0
#include "cli/program_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/run_totals.h"
#include "cli/units.h"

namespace warpool::cli {
namespace {

/// A program that asked something within this time counts as active.
constexpr uint64_t kActiveMs = 1000;

uint64_t other_sessions(const warpool_broker_info& info) {
  return info.sessions - std::min<uint64_t>(info.sessions, 1);
}

std::string memory_text(const warpool_broker_info& info) {
  std::string text =
      fmt::format("{} of {} used", format_bytes(info.memory_used), format_bytes(info.memory_limit));
  if (info.memory_limit > 0)
    text += fmt::format(" ({:.0f} %)", 100.0 * static_cast<double>(info.memory_used) /
                                           static_cast<double>(info.memory_limit));
  return text;
}

RunTotals totals_of(const warpool_session_info& session) {
  RunTotals totals;
  totals.add(session);
  return totals;
}

nlohmann::json program_json(const warpool_session_info& session) {
  const RunTotals totals = totals_of(session);
  return {{"session", session.session},
          {"pid", session.pid},
          {"uid", session.uid},
          {"user", session.user},
          {"alive", session.alive != 0},
          {"language", session.language},
          {"label", session.label},
          {"command", session.command},
          {"container", session.container},
          {"waiting_for", session.waiting_for},
          {"connected_ms", session.connected_ms},
          {"idle_ms", session.idle_ms},
          {"waits", session.waits},
          {"waited_ms", session.waited_ms},
          {"arrays_published", session.arrays_published},
          {"arrays_got", session.arrays_got},
          {"published_bytes", session.bytes_published},
          {"got_bytes", session.bytes_got},
          {"shared_bytes", session.bytes_shared},
          {"copied_bytes", totals.all_copied_bytes()},
          {"copies", copies_json(totals)},
          {"memory",
           {{"published_bytes", session.memory_published},
            {"drafts_bytes", session.memory_drafts},
            {"spare_bytes", session.memory_spare}}}};
}

template <typename Visit>
void each_other(const warpool_sessions* sessions, uint64_t own, Visit visit) {
  for (size_t i = 0; i < warpool_sessions_count(sessions); ++i) {
    const warpool_session_info& session = *warpool_sessions_get(sessions, i);
    if (session.session != own) visit(session);
  }
}

}  // namespace

nlohmann::json broker_json(const warpool_broker_info& info) {
  return {{"running", true},
          {"socket", info.socket_path},
          {"version", info.broker_version},
          {"protocol", info.protocol},
          {"epoch", info.epoch},
          {"pid", info.broker_pid},
          {"keeper_pid", info.keeper_pid},
          {"private", info.is_private != 0},
          {"uptime_ms", info.uptime_ms},
          {"restarts", info.restarts},
          {"lost_arrays", info.lost},
          {"arrays", info.arrays},
          {"programs", other_sessions(info)},
          {"memory",
           {{"limit_bytes", info.memory_limit},
            {"used_bytes", info.memory_used},
            {"published_bytes", info.memory_published},
            {"drafts_bytes", info.memory_drafts},
            {"spare_bytes", info.memory_spare},
            {"viewed_bytes", info.memory_viewed}}}};
}

std::string broker_facts(const warpool_broker_info& info) {
  Facts facts;
  facts.add("broker", fmt::format("running for {}, version {}", format_duration_ms(info.uptime_ms),
                                  info.broker_version));
  facts.add("kind", info.is_private != 0
                        ? "private: started by a program, ends by itself when nobody needs it"
                        : "stays until `warpool down`");
  facts.add("socket", info.socket_path);
  facts.add("processes", info.keeper_pid != 0
                             ? fmt::format("broker {}, keeper {}", info.broker_pid, info.keeper_pid)
                             : fmt::format("broker {}, no keeper: arrays would be lost with it",
                                           info.broker_pid));
  facts.add("memory", memory_text(info));
  facts.add("  published", format_bytes(info.memory_published));
  facts.add("  being filled", format_bytes(info.memory_drafts));
  facts.add("  spare", format_bytes(info.memory_spare));
  facts.add("  removed, viewed", format_bytes(info.memory_viewed));
  facts.add("arrays", fmt::format("{}", info.arrays));
  facts.add("programs", fmt::format("{}", other_sessions(info)));
  if (info.restarts > 0)
    facts.add("restarts", fmt::format("{} (no array was lost by them)", info.restarts));
  if (info.lost > 0)
    facts.add("lost", fmt::format("{}, with an earlier broker and keeper that ended together",
                                  count_of(info.lost, "array")));
  return facts.render();
}

nlohmann::json programs_json(const warpool_sessions* sessions, uint64_t own) {
  nlohmann::json programs = nlohmann::json::array();
  each_other(sessions, own, [&](const warpool_session_info& session) {
    programs.push_back(program_json(session));
  });
  return {{"programs", programs}, {"count", programs.size()}};
}

std::string program_state(const warpool_session_info& session) {
  if (*session.waiting_for != '\0') return "waits for " + printable(session.waiting_for);
  if (session.idle_ms < kActiveMs) return "active";
  return "idle " + format_duration_ms(session.idle_ms);
}

Table program_table(const warpool_sessions* sessions, uint64_t own) {
  using enum Table::Align;
  Table table({{"PID", kRight},
               {"USER"},
               {"LANGUAGE"},
               {"LABEL"},
               {"STATE"},
               {"MEMORY", kRight},
               {"PUBLISHED", kRight},
               {"GOT", kRight},
               {"SHARED", kRight},
               {"COPIED"},
               {"CONTAINER"},
               {"COMMAND"}});
  each_other(sessions, own, [&](const warpool_session_info& session) {
    const RunTotals totals = totals_of(session);
    table.add_row(
        {fmt::format("{}", session.pid), printable(session.user), printable(session.language),
         printable(session.label), program_state(session),
         format_bytes(session.memory_published + session.memory_drafts + session.memory_spare),
         format_bytes(session.bytes_published), format_bytes(session.bytes_got),
         format_bytes(session.bytes_shared), copied_text(totals), printable(session.container),
         printable(session.command)});
  });
  return table;
}

}  // namespace warpool::cli
