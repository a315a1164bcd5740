// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/state.h"

namespace warpool::client {

struct PublishedAs {
  std::uint64_t id = 0;
  std::uint64_t version = 0;
  std::int64_t created_unix_ns = 0;
};

/// Checks everything that can be checked here, and reserves memory with the broker. Holds a reference on the connection from then on.
Result<std::unique_ptr<warpool_draft>> new_draft(Connection& connection, const char* name,
                                                 std::vector<array::Part> parts,
                                                 const warpool_create_options* options);
/// Mapped, zeroed memory for the draft.
Result<void> give_memory(DraftState& draft);
Result<void> seal(DraftState& draft);
Result<PublishedAs> publish_draft(DraftState& draft, bool view, bool put);
/// Frees the draft; `tell_broker` when it was not published.
void drop_draft(warpool_draft* draft, bool tell_broker);
/// A read-only array over what was just published.
Result<warpool_array*> open_published(const DraftState& draft, const PublishedAs& as);

}  // namespace warpool::client
