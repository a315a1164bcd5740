// SPDX-License-Identifier: Apache-2.0
// One copy into shared memory, by the cheapest way: through the spare's mapping where there is one, else by pwrite, which needs
// neither a mapping nor zeroed pages. docs/design/put.md has the measurements.
#include "client/drafts.h"
#include "client/spare.h"
#include "os/file.h"

namespace warpool::client {
namespace {

const std::byte* source_of(const warpool_part& part) {
  return static_cast<const std::byte*>(part.data);
}

std::span<const std::int64_t> strides_of(const warpool_part& part) {
  return {part.strides, part.ndim};
}

std::uint64_t bytes_of(const array::Part& part) {
  std::uint64_t bytes = array::dtype_size(static_cast<std::uint32_t>(part.dtype));
  for (const std::int64_t extent : part.shape)
    bytes *= static_cast<std::uint64_t>(extent);
  return bytes;
}

bool is_same_layout(const warpool_part& source, const array::Part& target) {
  for (std::size_t i = 0; i < target.shape.size(); ++i) {
    if (target.shape[i] > 1 && source.strides[i] != target.strides[i]) return false;
  }
  return true;
}

/// Sources that are compact in C or F order keep it, others become C order.
void choose_layout(array::Part& part) {
  const bool column_major =
      array::is_ordered(part, array::Order::kF) && !array::is_ordered(part, array::Order::kC);
  part.strides = array::compact_strides(part.shape, part.dtype,
                                        column_major ? array::Order::kF : array::Order::kC);
}

void copy_part(const warpool_part& source, const array::Part& target, std::byte* item) {
  if (!array::has_bytes(target.kind)) return;
  array::copy_strided(source_of(source), strides_of(source), item + target.offset, target.strides,
                      target.shape, array::dtype_size(static_cast<std::uint32_t>(target.dtype)));
}

/// All sources lie in memory as they will in the item, so that the kernel can copy them.
bool is_plain(const warpool_part* sources, const DraftState& draft) {
  for (std::size_t i = 0; i < draft.parts.size(); ++i) {
    if (array::has_bytes(draft.parts[i].kind) && !is_same_layout(sources[i], draft.parts[i]))
      return false;
  }
  return true;
}

Result<void> write_parts(const warpool_part* sources, DraftState& draft) {
  WARPOOL_ASSIGN(draft.fd, os::create_memfd("warpool-array", os::round_to_page(draft.size)));
  for (std::size_t i = 0; i < draft.parts.size(); ++i) {
    const array::Part& part = draft.parts[i];
    if (!array::has_bytes(part.kind) || bytes_of(part) == 0) continue;
    WARPOOL_TRY(os::write_at(draft.fd, source_of(sources[i]), bytes_of(part), part.offset));
  }
  return {};
}

Result<void> fill(const warpool_part* sources, DraftState& draft) {
  const bool has_spare = draft.connection->spare().ready(os::round_to_page(draft.size));
  if (draft.number != 0 && !has_spare && is_plain(sources, draft))
    return write_parts(sources, draft);
  WARPOOL_TRY(give_memory(draft));
  for (std::size_t i = 0; i < draft.parts.size(); ++i)
    copy_part(sources[i], draft.parts[i], draft.memory->data());
  return {};
}

Result<void> check_sources(const warpool_part* parts, const std::vector<array::Part>& imported) {
  for (std::size_t i = 0; i < imported.size(); ++i) {
    if (!array::has_bytes(imported[i].kind) || parts[i].data != nullptr) continue;
    WARPOOL_ASSIGN(const std::uint64_t count,
                   array::element_count(imported[i].shape, imported[i].dtype));
    if (count > 0) return Error::format(Code::kInvalidArgument, "a part with elements has no data");
  }
  return {};
}

Result<PublishedAs> put(Connection& connection, const char* name, const warpool_part* parts,
                        std::uint32_t part_count, const warpool_create_options* options) {
  WARPOOL_ASSIGN(std::vector<array::Part> imported, import_parts(parts, part_count));
  WARPOOL_TRY(check_sources(parts, imported));
  for (array::Part& part : imported) {
    if (array::has_bytes(part.kind)) choose_layout(part);
  }
  WARPOOL_ASSIGN(std::unique_ptr<warpool_draft> draft,
                 new_draft(connection, name, std::move(imported), options));
  const bool large = draft->number != 0;
  const std::uint64_t size = draft->size;
  Result<void> filled = fill(parts, *draft);
  if (!filled.ok()) {
    drop_draft(draft.release(), true);
    return filled.take_error();
  }
  Result<PublishedAs> published = publish_draft(*draft, false, true);
  drop_draft(draft.release(), !published.ok());
  if (!published.ok()) return published;
  if (large) {
    connection.count_copy(WARPOOL_COPY_PUT, size);
    connection.spare().prepare(os::round_to_page(size));
  }
  return published;
}

}  // namespace

Result<std::vector<array::Part>> import_parts(const warpool_part* parts, std::uint32_t count) {
  if (parts == nullptr || count == 0 || count > kPartsMax)
    return Error::format(Code::kInvalidArgument,
                         "an item has between 1 and %u parts, not %u; split it into several names",
                         kPartsMax, count);
  std::vector<array::Part> imported(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const warpool_part& part = parts[i];
    if (part.ndim > kRankMax || part.kind > array::kKindMax || array::dtype_size(part.dtype) == 0)
      return Error::format(
          Code::kInvalidArgument,
          "part %u has an unknown element type or kind, or more than %u dimensions", i, kRankMax);
    imported[i].path = Text(part.path != nullptr ? part.path : "");
    imported[i].kind = static_cast<array::Kind>(part.kind);
    imported[i].dtype = static_cast<array::Dtype>(part.dtype);
    imported[i].shape.assign(part.shape, part.shape + part.ndim);
    imported[i].strides.assign(part.strides, part.strides + part.ndim);
    if (array::has_bytes(imported[i].kind))
      WARPOOL_TRY(array::element_count(imported[i].shape, imported[i].dtype));
  }
  return imported;
}

}  // namespace warpool::client

using namespace warpool;
using namespace warpool::client;

warpool_status warpool_put(warpool_connection* connection, const char* name,
                           const warpool_part* parts, uint32_t part_count,
                           const warpool_create_options* options, uint64_t* version,
                           warpool_error* error) {
  const Result<PublishedAs> published =
      put(*from_handle(connection), name, parts, part_count, options);
  if (!published.ok()) return report_error(published.error(), error);
  if (version != nullptr) *version = published.value().version;
  return report_ok(error);
}
