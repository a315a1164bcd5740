// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "client/state.h"

#define WARPOOL_TEXT_(x) #x
#define WARPOOL_TEXT(x) WARPOOL_TEXT_(x)

namespace warpool::client {

static_assert(static_cast<int>(Code::kConflict) == WARPOOL_CONFLICT &&
              WARPOOL_CONFLICT + 1 == kCodeCount);
static_assert(static_cast<int>(Code::kOutOfMemory) == WARPOOL_OUT_OF_MEMORY);
static_assert(static_cast<int>(array::Dtype::kComplex128) == WARPOOL_COMPLEX128);
static_assert(static_cast<int>(array::Kind::kSparse) == WARPOOL_KIND_SPARSE);
static_assert(kRankMax == WARPOOL_MAX_NDIM && kNameBytesMax == WARPOOL_MAX_NAME &&
              kPartsMax == WARPOOL_MAX_PARTS);
static_assert(kAlignment == WARPOOL_ALIGNMENT);

warpool_status report_error(const Error& error, warpool_error* out) {
  if (out != nullptr) {
    out->code = static_cast<std::int32_t>(error.code);
    const std::size_t bytes =
        error.message.size() < sizeof out->message ? error.message.size() : sizeof out->message - 1;
    std::memcpy(out->message, error.message.c_str(), bytes);
    out->message[bytes] = '\0';
  }
  return static_cast<warpool_status>(error.code);
}

warpool_status report_ok(warpool_error* out) {
  if (out != nullptr) {
    out->code = WARPOOL_OK;
    out->message[0] = '\0';
  }
  return WARPOOL_OK;
}

}  // namespace warpool::client

using namespace warpool;

const char* warpool_status_name(int32_t code) {
  return code_name(code);
}

const char* warpool_version(void) {
  return WARPOOL_TEXT(WARPOOL_VERSION_MAJOR) "." WARPOOL_TEXT(
      WARPOOL_VERSION_MINOR) "." WARPOOL_TEXT(WARPOOL_VERSION_PATCH);
}

size_t warpool_dtype_size(uint32_t dtype) {
  return array::dtype_size(dtype);
}
const char* warpool_dtype_name(uint32_t dtype) {
  return array::dtype_name(dtype);
}

const char* warpool_copy_reason_name(uint32_t reason) {
  static constexpr const char* kNames[WARPOOL_COPY_REASONS] = {
      "put", "inline", "publish busy", "gateway", "convert", "legacy consumer", "late write"};
  return reason < WARPOOL_COPY_REASONS ? kNames[reason] : "unknown";
}

warpool_status warpool_part_init(warpool_part* part, uint32_t dtype, uint32_t ndim,
                                 const int64_t* shape, uint32_t order, warpool_error* error) {
  if (part == nullptr || (ndim > 0 && shape == nullptr) || ndim > kRankMax ||
      order > WARPOOL_ORDER_F || array::dtype_size(dtype) == 0)
    return client::report_error(
        Error::format(
            Code::kInvalidArgument,
            "warpool_part_init needs a part, a known dtype and order, and at most %u dimensions",
            kRankMax),
        error);
  const std::span<const std::int64_t> extents(shape, ndim);
  const auto type = static_cast<array::Dtype>(dtype);
  const Result<std::uint64_t> count = array::element_count(extents, type);
  if (!count.ok()) return client::report_error(count.error(), error);
  std::memset(part, 0, sizeof *part);
  part->path = "";
  part->dtype = dtype;
  part->ndim = ndim;
  const std::vector<std::int64_t> strides =
      array::compact_strides(extents, type, static_cast<array::Order>(order));
  for (std::uint32_t i = 0; i < ndim; ++i) {
    part->shape[i] = shape[i];
    part->strides[i] = strides[i];
  }
  return client::report_ok(error);
}
