// SPDX-License-Identifier: Apache-2.0
#include "draft.h"

#include <octave/ov-cx-mat.h>
#include <octave/ov-flt-cx-mat.h>

#include <ostream>
#include <vector>

#include "failure.h"
#include "layout.h"
#include "region.h"
#include "session.h"

DEFINE_OV_TYPEID_FUNCTIONS_AND_DATA(WarpoolDraft, "warpool_draft", "warpool_draft");

namespace warpool_oct {

void DraftState::check_open() const {
  warpool_error error;
  check(wpm_check_draft(&slot, name.c_str(), fate, &error), error);
}

namespace {

/// Octave's subscripts as those of region.h, with the extents they meet.
class Region {
 public:
  Region(const DraftState& state, const octave_value_list& index)
      : count_(static_cast<std::uint32_t>(index.length())) {
    warpool_error error;
    if (count_ == 0 || count_ > WARPOOL_MAX_NDIM) {
      wpm_refuse(&error, "give 1 to %d subscripts", static_cast<int>(WARPOOL_MAX_NDIM));
      raise(error);
    }
    wpm_subscript_extents(state.part.ndim, state.part.shape, count_, extents_);
    lists_.resize(count_);
    for (std::uint32_t s = 0; s < count_; s++) {
      add(s, index(static_cast<int>(s)));
    }
    check(wpm_check_subscripts(count_, extents_, subscripts_, &error), error);
  }

  std::uint32_t count() const { return count_; }
  const wpm_subscript* subscripts() const { return subscripts_; }
  bool is_single_colon() const { return count_ == 1 && is_colon_; }

  void run(const DraftState& state, void* other, wpm_region_action action) const {
    wpm_region(state.data, warpool_dtype_size(state.part.dtype), count_, extents_, subscripts_,
               other, action);
  }

 private:
  void add(std::uint32_t s, const octave_value& value) {
    const octave::idx_vector index = value.index_vector();
    wpm_subscript& subscript = subscripts_[s];
    octave_idx_type low = 0, high = 0;
    if (index.is_colon()) {
      is_colon_ = true;
      subscript = {0, extents_[s], nullptr};
    } else if (index.is_cont_range(static_cast<octave_idx_type>(extents_[s]), low, high) &&
               high - low == index.length(0)) {
      subscript = {low, high - low, nullptr};
    } else {
      auto& list = lists_[s];
      list.resize(
          static_cast<std::size_t>(index.length(static_cast<octave_idx_type>(extents_[s]))));
      for (std::size_t i = 0; i < list.size(); i++) {
        list[i] = index(static_cast<octave_idx_type>(i));
      }
      subscript = {0, static_cast<std::int64_t>(list.size()), list.empty() ? nullptr : list.data()};
    }
  }

  std::uint32_t count_;
  bool is_colon_ = false;
  std::int64_t extents_[WARPOOL_MAX_NDIM];
  wpm_subscript subscripts_[WARPOOL_MAX_NDIM];
  std::vector<std::vector<std::int64_t>> lists_;
};

/// Writes `values`, of the draft's own element type.
template <typename A>
void write(const DraftState& state, const Region& region, const A& values) {
  const dim_vector dims = values.dims();
  // The region only reads what it writes from.
  void* const source = const_cast<void*>(static_cast<const void*>(values.data()));
  if (values.numel() == 1) {
    region.run(state, source, WPM_FILL);
    return;
  }
  std::vector<std::int64_t> extents;
  for (int d = 0; d < dims.ndims(); d++) {
    extents.push_back(dims(d));
  }
  if (!wpm_value_fits(region.count(), region.subscripts(),
                      static_cast<std::uint32_t>(extents.size()), extents.data())) {
    std::string selected;
    for (std::uint32_t s = 0; s < region.count(); s++) {
      selected += (s == 0 ? "" : " x ") + std::to_string(region.subscripts()[s].count);
    }
    warpool_error error;
    wpm_refuse(&error,
               "'%s': a value of size %s does not fit the %s elements that the subscripts select",
               state.name.c_str(), dims.str().c_str(), selected.c_str());
    raise(error);
  }
  region.run(state, source, WPM_WRITE);
}

[[noreturn]] void refuse_complex(const DraftState& state) {
  warpool_error error;
  wpm_refuse(&error,
             "'%s' was created as %s and cannot hold complex values: create it as 'complex "
             "double', or assign real(x)",
             state.name.c_str(), wpm_class_name(state.part.dtype));
  raise(error);
}

void assign(const DraftState& state, const Region& region, const octave_value& given) {
  const octave_value value = given.full_value();
  if (!value.isnumeric() && !value.islogical() && !value.is_string()) {
    warpool_error error;
    wpm_refuse(&error,
               "'%s' holds %s values; a value of class %s cannot be assigned to its elements",
               state.name.c_str(), wpm_class_name(state.part.dtype), value.class_name().c_str());
    raise(error);
  }
  const bool holds_complex =
      state.part.dtype == WARPOOL_COMPLEX128 || state.part.dtype == WARPOOL_COMPLEX64;
  if (value.iscomplex() && !holds_complex) {
    refuse_complex(state);
  }
  switch (state.part.dtype) {
    case WARPOOL_FLOAT64:
      return write(state, region, value.array_value(true));
    case WARPOOL_FLOAT32:
      return write(state, region, value.float_array_value(true));
    case WARPOOL_COMPLEX128:
      return write(state, region, value.complex_array_value(true));
    case WARPOOL_COMPLEX64:
      return write(state, region, value.float_complex_array_value(true));
    case WARPOOL_BOOL:
      return write(state, region, value.bool_array_value(true));
    case WARPOOL_INT8:
      return write(state, region, value.as_int8().int8_array_value());
    case WARPOOL_INT16:
      return write(state, region, value.as_int16().int16_array_value());
    case WARPOOL_INT32:
      return write(state, region, value.as_int32().int32_array_value());
    case WARPOOL_INT64:
      return write(state, region, value.as_int64().int64_array_value());
    case WARPOOL_UINT8:
      return write(state, region, value.as_uint8().uint8_array_value());
    case WARPOOL_UINT16:
      return write(state, region, value.as_uint16().uint16_array_value());
    case WARPOOL_UINT32:
      return write(state, region, value.as_uint32().uint32_array_value());
    default:
      return write(state, region, value.as_uint64().uint64_array_value());
  }
}

template <typename T>
Array<T> read_as(const DraftState& state, const Region& region, const dim_vector& dims) {
  Array<T> result(dims);
  region.run(state, result.fortran_vec(), WPM_READ);
  return result;
}

octave_value read(const DraftState& state, const Region& region, const dim_vector& dims) {
  switch (state.part.dtype) {
    case WARPOOL_FLOAT64:
      return octave_value(NDArray(read_as<double>(state, region, dims)));
    case WARPOOL_FLOAT32:
      return octave_value(FloatNDArray(read_as<float>(state, region, dims)));
    case WARPOOL_COMPLEX128:
      return octave_value(
          new octave_complex_matrix(ComplexNDArray(read_as<Complex>(state, region, dims))));
    case WARPOOL_COMPLEX64:
      return octave_value(new octave_float_complex_matrix(
          FloatComplexNDArray(read_as<FloatComplex>(state, region, dims))));
    case WARPOOL_BOOL:
      return octave_value(boolNDArray(read_as<bool>(state, region, dims)));
    case WARPOOL_INT8:
      return octave_value(int8NDArray(read_as<octave_int8>(state, region, dims)));
    case WARPOOL_INT16:
      return octave_value(int16NDArray(read_as<octave_int16>(state, region, dims)));
    case WARPOOL_INT32:
      return octave_value(int32NDArray(read_as<octave_int32>(state, region, dims)));
    case WARPOOL_INT64:
      return octave_value(int64NDArray(read_as<octave_int64>(state, region, dims)));
    case WARPOOL_UINT8:
      return octave_value(uint8NDArray(read_as<octave_uint8>(state, region, dims)));
    case WARPOOL_UINT16:
      return octave_value(uint16NDArray(read_as<octave_uint16>(state, region, dims)));
    case WARPOOL_UINT32:
      return octave_value(uint32NDArray(read_as<octave_uint32>(state, region, dims)));
    default:
      return octave_value(uint64NDArray(read_as<octave_uint64>(state, region, dims)));
  }
}

/// The size of h(index), as for a matrix: a single subscript gives the shape of the index, or a column for a colon.
dim_vector result_dims(const DraftState& state, const Region& region,
                       const octave_value_list& index) {
  const wpm_subscript* subscripts = region.subscripts();
  if (region.count() > 1) {
    dim_vector dims;
    dims.resize(static_cast<int>(region.count()));
    for (std::uint32_t s = 0; s < region.count(); s++) {
      dims(static_cast<int>(s)) = subscripts[s].count;
    }
    dims.chop_trailing_singletons();
    return dims;
  }
  if (region.is_single_colon()) {
    return dim_vector(subscripts[0].count, 1);
  }
  const dim_vector shape = index(0).dims();
  const bool is_mask = index(0).islogical();
  const bool is_row = state.part.ndim == 2 && state.part.shape[0] == 1;
  const bool is_column = state.part.ndim == 2 && state.part.shape[1] == 1;
  if (!is_mask && !shape.isvector()) {
    return shape;
  }
  // A vector indexed by a vector keeps its own direction.
  if (is_column ||
      (!is_row && (is_mask ? !(shape.ndims() == 2 && shape(0) == 1) : shape(0) != 1))) {
    return dim_vector(subscripts[0].count, 1);
  }
  return dim_vector(1, subscripts[0].count);
}

[[noreturn]] void refuse_type(const DraftState& state) {
  warpool_error error;
  wpm_refuse(&error, "'%s' is an array that is being filled: index it with parentheses, h(i,j)",
             state.name.c_str());
  raise(error);
}

}  // namespace

}  // namespace warpool_oct

using warpool_oct::Region;

dim_vector WarpoolDraft::dims() const {
  dim_vector dims(0, 0);
  if (state_) {
    dims.resize(static_cast<int>(state_->part.ndim));
    for (std::uint32_t d = 0; d < state_->part.ndim; d++) {
      dims(static_cast<int>(d)) = state_->part.shape[d];
    }
  }
  return dims;
}

std::size_t WarpoolDraft::byte_size() const {
  return state_ ? static_cast<std::size_t>(wpm_element_count(&state_->part)) *
                      warpool_dtype_size(state_->part.dtype)
                : 0;
}

octave_value WarpoolDraft::do_index_op(const octave_value_list& index, bool) {
  state_->check_open();
  if (index.length() == 0) {
    return octave_value(new WarpoolDraft(*this));
  }
  const Region region(*state_, index);
  return warpool_oct::read(*state_, region, warpool_oct::result_dims(*state_, region, index));
}

octave_value WarpoolDraft::subsref(const std::string& type,
                                   const std::list<octave_value_list>& index) {
  if (type[0] != '(') {
    warpool_oct::refuse_type(*state_);
  }
  octave_value result = do_index_op(index.front());
  return type.size() > 1 ? result.next_subsref(type, index) : result;
}

octave_value WarpoolDraft::subsasgn(const std::string& type,
                                    const std::list<octave_value_list>& index,
                                    const octave_value& value) {
  if (type.size() != 1 || type[0] != '(') {
    warpool_oct::refuse_type(*state_);
  }
  state_->check_open();
  warpool_oct::assign(*state_, Region(*state_, index.front()), value);
  return octave_value(new WarpoolDraft(*this));
}

void WarpoolDraft::print_raw(std::ostream& os, bool) const {
  if (!state_) {
    os << "<warpool draft>";
    return;
  }
  os << "<warpool draft '" << state_->name << "': " << dims().str() << ' '
     << wpm_class_name(state_->part.dtype)
     << (state_->slot.draft != nullptr ? ", not published yet>" : ", ");
  if (state_->slot.draft == nullptr) {
    os << state_->fate << '>';
  }
}

void WarpoolDraft::print(std::ostream& os, bool pr_as_read_syntax) {
  print_raw(os, pr_as_read_syntax);
  newline(os);
}

bool WarpoolDraft::print_name_tag(std::ostream& os, const std::string& name) const {
  os << name << " = ";
  return false;
}
