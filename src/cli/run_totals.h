// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "warpool/warpool.h"

namespace warpool::cli {

/// What the programs of a run did with arrays, added up over its sessions.
struct RunTotals {
  uint64_t programs = 0;
  uint64_t alive = 0;
  uint64_t arrays_published = 0;
  uint64_t arrays_got = 0;
  uint64_t bytes_published = 0;
  uint64_t bytes_got = 0;
  uint64_t bytes_shared = 0;
  std::array<uint64_t, WARPOOL_COPY_REASONS> copies{};
  std::array<uint64_t, WARPOOL_COPY_REASONS> copied_bytes{};
  std::string unknown;  ///< not empty: the broker could not be asked, and why

  void add(const warpool_session_info& session);
  uint64_t all_copies() const;
  uint64_t all_copied_bytes() const;
};

/// "none", or "1.5 MiB (put 1 MiB in 1 copy, inline 512 KiB in 8 copies)".
std::string copied_text(const RunTotals& totals);
/// "shared 256 MiB, no copies"; says so if the facts are unknown.
std::string describe_sharing(const RunTotals& totals);
/// Keys of the totals for JSON; "copies" has one object a reason that occurred.
nlohmann::json totals_json(const RunTotals& totals);
nlohmann::json copies_json(const RunTotals& totals);

/// Asks the broker. Sessions that have just ended may still be listed as alive: waits for them, but not for long, since a program may
/// have left another one running. Never throws: totals are a courtesy at the end of a run.
RunTotals totals_of_run(warpool_connection* connection, const std::string& run);

}  // namespace warpool::cli
