// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/output.h"
#include "warpool/warpool.h"

namespace warpool::cli {

// How the broker and the connected programs are shown. Pure functions over the structs of the C interface. The session of this command
// itself is left out everywhere: it is there only because somebody looks.

nlohmann::json broker_json(const warpool_broker_info& info);
std::string broker_facts(const warpool_broker_info& info);

/// `own`: id of the session to leave out.
nlohmann::json programs_json(const warpool_sessions* sessions, uint64_t own);
Table program_table(const warpool_sessions* sessions, uint64_t own);
/// "waits for lab/x", "idle 3 min 12 s", "active".
std::string program_state(const warpool_session_info& session);

}  // namespace warpool::cli
