// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/output.h"
#include "warpool/warpool.h"

namespace warpool::cli {

// How published arrays are shown. Pure functions over the structs of the C interface.

/// "array", "text", "chars", "struct", "sparse".
const char* kind_name(uint32_t kind);
/// "1000x784"; "scalar" for no dimension.
std::string shape_text(const warpool_part& part);
/// "float64", "text", "sparse float64", "struct of 3".
std::string type_text(const warpool_array_info& info);
/// "C", "F", "both" (one dimension that counts, or none) or "strided".
const char* order_text(const warpool_part& part);
/// "python train (pid 71)", with "ended" if it has.
std::string maker_text(const warpool_array_info& info);
/// Notes such as "inline", "removed", "while used".
std::string notes_text(const warpool_array_info& info);

/// Stable keys, listed in docs/commands.md.
nlohmann::json array_json(const warpool_array_info& info);

/// The arrays of a listing as a table. Owners are shown if asked for.
Table array_table(const warpool_listing* listing, bool with_owner, int64_t now_unix_ns);
/// Everything about one array.
std::string array_details(const warpool_array_info& info, const Output& output);

/// Nanoseconds since 1970.
int64_t unix_now_ns();

}  // namespace warpool::cli
