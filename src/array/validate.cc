// SPDX-License-Identifier: Apache-2.0
// The one place where layouts and names from other programs are checked.
#include <algorithm>

#include "array/layout.h"

namespace warpool::array {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_character(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-';
}

const char* shown(const Part& part) {
  return part.path.empty() ? "the array" : part.path.c_str();
}

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view()
                                         : std::string_view(path.data(), slash);
}

std::string_view last_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos
             ? path
             : std::string_view(path.data() + slash + 1, path.size() - slash - 1);
}

const Part* find_part(std::span<const Part> parts, std::string_view path) {
  for (const Part& part : parts) {
    if (part.path.view() == path) return &part;
  }
  return nullptr;
}

Result<void> check_types(const Part& part) {
  if (dtype_size(static_cast<std::uint32_t>(part.dtype)) == 0 ||
      static_cast<std::uint8_t>(part.kind) > kKindMax)
    return Error::format(Code::kInvalidArgument, "%s has an unknown element type or kind",
                         shown(part));
  if (part.shape.size() != part.strides.size() || part.shape.size() > kRankMax)
    return Error::format(Code::kInvalidArgument,
                         "%s has %zu extents and %zu strides; both must be equal and at most %u",
                         shown(part), part.shape.size(), part.strides.size(), kRankMax);
  const bool text =
      part.kind == Kind::kText && (part.dtype != Dtype::kUint8 || part.shape.size() != 1);
  const bool chars =
      part.kind == Kind::kChars && part.dtype != Dtype::kUint8 && part.dtype != Dtype::kUint16;
  if (text || chars)
    return Error::format(Code::kInvalidArgument,
                         "%s is text of a type that no language has; see warpool_kind",
                         shown(part));
  return {};
}

/// The head of a sparse matrix says how large it would be in full, which is no amount of memory: each extent is bounded, their
/// product is not.
Result<void> check_head(const Part& part) {
  for (const std::int64_t extent : part.shape) {
    if (extent < 0 || static_cast<std::uint64_t>(extent) > kItemBytesMax)
      return Error::format(Code::kInvalidArgument, "%s has an extent of %lld, which is no size",
                           shown(part), static_cast<long long>(extent));
  }
  return {};
}

/// Every element must lie inside the item: the largest reachable byte is the sum of (extent - 1) * stride.
Result<void> check_extent(const Part& part, std::uint64_t size) {
  if (!has_bytes(part.kind)) return check_head(part);
  WARPOOL_ASSIGN(const std::uint64_t count, element_count(part.shape, part.dtype));
  if (part.offset % kAlignment != 0 || part.offset > size)
    return Error::format(Code::kInvalidArgument,
                         "%s starts at byte %llu, which is outside or not a multiple of %llu",
                         shown(part), static_cast<unsigned long long>(part.offset),
                         static_cast<unsigned long long>(kAlignment));
  WideUint end = part.offset;
  for (std::size_t i = 0; i < part.shape.size(); ++i) {
    if (part.strides[i] < 0)
      return Error::format(Code::kInvalidArgument,
                           "%s has a negative stride, which no published array may have",
                           shown(part));
    if (part.shape[i] > 1)
      end += static_cast<WideUint>(part.shape[i] - 1) * static_cast<std::uint64_t>(part.strides[i]);
  }
  end += dtype_size(static_cast<std::uint32_t>(part.dtype));
  if (count > 0 && end > size)
    return Error::format(Code::kInvalidArgument, "%s reaches beyond the %llu bytes of its item",
                         shown(part), static_cast<unsigned long long>(size));
  return {};
}

Result<void> check_path(std::span<const Part> parts, std::size_t index) {
  const Part& part = parts[index];
  const std::string_view path = part.path.view();
  if (path.empty()) {
    if (index == 0) return {};
    return Error::format(Code::kInvalidArgument, "only the first part may have the empty path");
  }
  // "/a" would be a second name of field "a".
  if (path.size() > kPathBytesMax || path.front() == '/' || !is_field_name(last_of(path)))
    return Error::format(Code::kInvalidArgument,
                         "field \"%s\" cannot be shared: a field name starts with a letter and has "
                         "letters, digits and "
                         "\"_\", at most %zu of them",
                         part.path.c_str(), kFieldNameBytesMax);
  const std::span<const Part> before = parts.first(index);
  if (find_part(before, path) != nullptr)
    return Error::format(Code::kInvalidArgument, "field \"%s\" appears twice", part.path.c_str());
  const Part* parent = find_part(before, parent_of(path));
  if (parent == nullptr || has_bytes(parent->kind))
    return Error::format(Code::kInvalidArgument, "field \"%s\" has no struct above it",
                         part.path.c_str());
  return {};
}

const Part* child_of(std::span<const Part> parts, const Part& parent, std::string_view name) {
  for (const Part& part : parts) {
    const std::string_view path = part.path.view();
    if (!path.empty() && last_of(path) == name && parent_of(path) == parent.path.view())
      return &part;
  }
  return nullptr;
}

bool is_vector(const Part* part, std::int64_t length) {
  return part != nullptr && part->kind == Kind::kArray && part->shape.size() == 1 &&
         part->shape[0] == length;
}

/// The values of the indices are checked by whoever builds a sparse matrix from them: they are data.
Result<void> check_sparse(std::span<const Part> parts, const Part& head) {
  const Part* data = child_of(parts, head, "data");
  const Part* indices = child_of(parts, head, "indices");
  const Part* starts = child_of(parts, head, "indptr");
  const bool fits = head.shape.size() == 2 && data != nullptr && data->shape.size() == 1 &&
                    is_vector(data, data->shape[0]) && data->dtype == head.dtype &&
                    is_vector(indices, data->shape[0]) && indices->dtype == Dtype::kInt64 &&
                    is_vector(starts, head.shape[1] + 1) && starts->dtype == Dtype::kInt64;
  if (fits) return {};
  return Error::format(Code::kInvalidArgument,
                       "the pieces of sparse matrix \"%s\" do not fit together; see warpool_kind",
                       shown(head));
}

}  // namespace

bool is_field_name(std::string_view name) {
  if (name.empty() || name.size() > kFieldNameBytesMax || !is_letter(name[0])) return false;
  for (const char c : name) {
    if (!is_letter(c) && !is_digit(c) && c != '_') return false;
  }
  return true;
}

Result<void> check_name(std::string_view name) {
  const auto bad = [&](const char* why) {
    return Error::format(Code::kInvalidArgument,
                         "\"%.*s\" is not a name for an array: %s. A name is letters, digits, "
                         "\"_\", \".\", \"-\" in parts "
                         "joined by \"/\", such as lab/session3/features",
                         static_cast<int>(std::min(name.size(), kNameBytesMax)), name.data(), why);
  };
  if (name.empty()) return bad("it is empty");
  if (name.size() > kNameBytesMax) return bad("it is longer than 255 bytes");
  std::size_t start = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && name[i] != '/') {
      if (!is_name_character(name[i])) return bad("it has a character that is not allowed");
      continue;
    }
    const std::string_view component(name.data() + start, i - start);
    if (component.empty()) return bad("a part between slashes is empty");
    if (component == "." || component == "..") return bad("\".\" and \"..\" are not allowed");
    start = i + 1;
  }
  return {};
}

Result<void> validate(std::span<const Part> parts, std::uint64_t size) {
  if (parts.empty() || parts.size() > kPartsMax)
    return Error::format(
        Code::kInvalidArgument,
        "an item has %zu parts, between 1 and %u are possible; split it into several names",
        parts.size(), kPartsMax);
  if (!parts[0].path.empty())
    return Error::format(Code::kInvalidArgument, "the first part must have the empty path");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    WARPOOL_TRY(check_types(parts[i]));
    WARPOOL_TRY(check_extent(parts[i], size));
    WARPOOL_TRY(check_path(parts, i));
  }
  for (const Part& part : parts) {
    if (part.kind == Kind::kSparse) WARPOOL_TRY(check_sparse(parts, part));
  }
  return {};
}

}  // namespace warpool::array
