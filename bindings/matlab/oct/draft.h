// SPDX-License-Identifier: Apache-2.0
// What warpool.create returns in Octave: an array that is being filled in shared memory.
#ifndef WARPOOL_OCT_DRAFT_H
#define WARPOOL_OCT_DRAFT_H

#include <octave/oct.h>
#include <octave/ov-base.h>

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "session.h"
#include "warpool/warpool.h"

namespace warpool_oct {

/// The draft that all copies of a handle share. Dropped without publish, it is discarded.
struct DraftState {
  DraftState() = default;
  ~DraftState() { wpm_discard_draft(&slot); }
  DraftState(const DraftState&) = delete;
  DraftState& operator=(const DraftState&) = delete;
  /// Throws unless it can still be filled.
  void check_open() const;

  wpm_draft_slot slot{};
  void* data = nullptr;
  warpool_part part{};  // column-major
  std::string name;
  const char* fate = "dropped";  // or "published"; holds once the slot is empty
};

}  // namespace warpool_oct

/// A value with handle semantics: h(i,j) = x writes into the shared memory, h(i,j) reads from it, and h is no number itself.
/// Outside the namespace, as Octave's macros for value types want it.
class WarpoolDraft final : public octave_base_value {
 public:
  WarpoolDraft() = default;
  explicit WarpoolDraft(std::shared_ptr<warpool_oct::DraftState> state)
      : state_(std::move(state)) {}
  WarpoolDraft(const WarpoolDraft&) = default;

  warpool_oct::DraftState* state() const { return state_.get(); }

  octave_base_value* clone() const override { return new WarpoolDraft(*this); }
  octave_base_value* empty_clone() const override { return new WarpoolDraft(); }

  bool is_defined() const override { return true; }
  dim_vector dims() const override;
  std::size_t byte_size() const override;

  octave_value subsref(const std::string& type, const std::list<octave_value_list>& index) override;
  octave_value_list subsref(const std::string& type, const std::list<octave_value_list>& index,
                            int) override {
    return octave_value_list(subsref(type, index));
  }
  octave_value do_index_op(const octave_value_list& index, bool resize_ok = false) override;
  octave_value subsasgn(const std::string& type, const std::list<octave_value_list>& index,
                        const octave_value& value) override;

  void print(std::ostream& os, bool pr_as_read_syntax = false) override;
  void print_raw(std::ostream& os, bool pr_as_read_syntax = false) const override;
  bool print_name_tag(std::ostream& os, const std::string& name) const override;

 private:
  std::shared_ptr<warpool_oct::DraftState> state_;

  DECLARE_OV_TYPEID_FUNCTIONS_AND_DATA
};

#endif
