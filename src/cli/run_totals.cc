// SPDX-License-Identifier: Apache-2.0
#include "cli/run_totals.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>
#include <vector>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/units.h"

namespace warpool::cli {
namespace {

using std::chrono::milliseconds;

/// A closed socket reaches the broker within one turn of its loop; this is generous, and short for a person who waits.
constexpr milliseconds kSettleTime{300};
constexpr milliseconds kSettleStep{10};

RunTotals ask(warpool_connection* connection, const std::string& run) {
  const auto sessions = make<warpool_sessions>(warpool_list_sessions, connection, run.c_str());
  RunTotals totals;
  for (size_t i = 0; i < warpool_sessions_count(sessions.get()); ++i)
    totals.add(*warpool_sessions_get(sessions.get(), i));
  return totals;
}

}  // namespace

void RunTotals::add(const warpool_session_info& session) {
  programs += 1;
  alive += session.alive != 0 ? 1 : 0;
  arrays_published += session.arrays_published;
  arrays_got += session.arrays_got;
  bytes_published += session.bytes_published;
  bytes_got += session.bytes_got;
  bytes_shared += session.bytes_shared;
  for (size_t i = 0; i < copies.size(); ++i) {
    copies[i] += session.copies[i];
    copied_bytes[i] += session.copied_bytes[i];
  }
}

uint64_t RunTotals::all_copies() const {
  return std::accumulate(copies.begin(), copies.end(), uint64_t{0});
}

uint64_t RunTotals::all_copied_bytes() const {
  return std::accumulate(copied_bytes.begin(), copied_bytes.end(), uint64_t{0});
}

std::string copied_text(const RunTotals& totals) {
  if (totals.all_copies() == 0) return "none";
  std::vector<std::string> reasons;
  for (uint32_t i = 0; i < WARPOOL_COPY_REASONS; ++i) {
    if (totals.copies[i] == 0) continue;
    reasons.push_back(fmt::format("{} {} in {} {}", warpool_copy_reason_name(i),
                                  format_bytes(totals.copied_bytes[i]), totals.copies[i],
                                  totals.copies[i] == 1 ? "copy" : "copies"));
  }
  return fmt::format("{} ({})", format_bytes(totals.all_copied_bytes()), fmt::join(reasons, ", "));
}

std::string describe_sharing(const RunTotals& totals) {
  if (!totals.unknown.empty()) return fmt::format("sharing unknown ({})", totals.unknown);
  const std::string copied =
      totals.all_copies() == 0 ? "no copies" : "copied " + copied_text(totals);
  return fmt::format("shared {}, {}", format_bytes(totals.bytes_shared), copied);
}

nlohmann::json copies_json(const RunTotals& totals) {
  nlohmann::json reasons = nlohmann::json::object();
  for (uint32_t i = 0; i < WARPOOL_COPY_REASONS; ++i) {
    if (totals.copies[i] == 0) continue;
    reasons[warpool_copy_reason_name(i)] = {{"count", totals.copies[i]},
                                            {"bytes", totals.copied_bytes[i]}};
  }
  return reasons;
}

nlohmann::json totals_json(const RunTotals& totals) {
  if (!totals.unknown.empty()) return {{"unknown", totals.unknown}};
  return {{"programs", totals.programs},
          {"arrays_published", totals.arrays_published},
          {"arrays_got", totals.arrays_got},
          {"published_bytes", totals.bytes_published},
          {"got_bytes", totals.bytes_got},
          {"shared_bytes", totals.bytes_shared},
          {"copied_bytes", totals.all_copied_bytes()},
          {"copies", copies_json(totals)}};
}

RunTotals totals_of_run(warpool_connection* connection, const std::string& run) {
  try {
    RunTotals totals = ask(connection, run);
    for (milliseconds waited{0}; totals.alive > 0 && waited < kSettleTime; waited += kSettleStep) {
      std::this_thread::sleep_for(kSettleStep);
      totals = ask(connection, run);
    }
    return totals;
  } catch (const Failure& failure) {
    RunTotals totals;
    totals.unknown = failure.what();
    return totals;
  }
}

}  // namespace warpool::cli
