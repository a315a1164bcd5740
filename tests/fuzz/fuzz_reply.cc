// SPDX-License-Identifier: Apache-2.0
// What libwarpool does with bytes from whatever listens at the socket: whole replies, and the descriptions of items inside.
#include <cstring>
#include <memory>

#include "client/state.h"
#include "input.h"

namespace warpool::fuzz {
namespace {

/// Every byte that a view of the item may touch must lie in its memory; reading the corners finds those outside.
void walk(const client::ItemView& view, const std::byte* data, std::uint64_t size) {
  for (std::uint32_t i = 0; i < view.info.part_count; ++i) {
    const warpool_part& part = view.info.parts[i];
    if (part.data == nullptr) continue;
    const auto* place = static_cast<const std::byte*>(part.data);
    std::uint64_t last = 0;
    bool empty = false;
    for (std::uint32_t k = 0; k < part.ndim; ++k) {
      empty = empty || part.shape[k] == 0;
      last += static_cast<std::uint64_t>(part.shape[k] - 1) *
              static_cast<std::uint64_t>(part.strides[k]);
    }
    if (empty) continue;
    const auto offset = static_cast<std::uint64_t>(place - data);
    require(offset + last + warpool_dtype_size(part.dtype) <= size, "a part leaves its item");
  }
}

void look_at(const wire::fb::ItemState* state) {
  if (state == nullptr) return;
  client::ItemView view;
  // The memory that came with it: an address is enough, the walk only computes.
  static std::byte start[1];
  if (!client::read_item_state(*state, start, view).ok()) return;
  walk(view, start, view.info.size);
}

}  // namespace
}  // namespace warpool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpool;
  // As large as the message and not a byte more, so that the sanitizer sees a read past its end.
  std::unique_ptr<std::uint8_t, decltype(&std::free)> message(
      static_cast<std::uint8_t*>(std::aligned_alloc(16, (size + 15) / 16 * 16 + 16)), &std::free);
  std::uint8_t* place = message.get() + ((size + 15) / 16 * 16 - size) / 16 * 16;
  std::memcpy(place, data, size);
  const Result<const wire::fb::Reply*> reply = wire::read_reply({place, size});
  if (!reply.ok()) return 0;
  if (const auto* items = reply.value()->body_as_Items(); items && items->items()) {
    for (const wire::fb::ItemState* state : *items->items())
      fuzz::look_at(state);
  }
  fuzz::look_at(reply.value()->body_as_ItemState());
  return 0;
}
