// SPDX-License-Identifier: Apache-2.0
#include "keeper.h"

#include <algorithm>
#include <utility>

#if !defined(OCTAVE_HAVE_STD_PMR_POLYMORPHIC_ALLOCATOR)

namespace warpool_oct {

namespace {

// Checking this many costs about a microsecond.
constexpr std::size_t kSweepPerCall = 512;

std::size_t next_to_sweep = 0;

// Ends the loan at `index` if it is over; another one takes its place then.
bool end_if_over(std::size_t index) {
  auto& all = loans();
  if (!all[index]->is_over()) {
    return false;
  }
  std::swap(all[index], all.back());
  all.pop_back();
  return true;
}

}  // namespace

std::vector<std::unique_ptr<Loan>>& loans() {
  static auto* const all = new std::vector<std::unique_ptr<Loan>>;
  return *all;
}

std::size_t sweep_all() {
  for (std::size_t i = 0; i < loans().size();) {
    if (!end_if_over(i)) {
      i++;
    }
  }
  return loans().size();
}

void sweep_some() {
  const std::size_t count = std::min(kSweepPerCall, loans().size());
  for (std::size_t n = 0; n < count; n++) {
    if (next_to_sweep >= loans().size()) {
      next_to_sweep = 0;
    }
    if (!end_if_over(next_to_sweep)) {
      next_to_sweep++;
    }
  }
}

}  // namespace warpool_oct

#endif
