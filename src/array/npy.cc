// SPDX-License-Identifier: Apache-2.0
#include "array/npy.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace warpool::array {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kMagicBytes = 6;
/// Elements start on a multiple of this many bytes, as NumPy writes since 1.14.
constexpr std::size_t kNpyAlignment = 64;

struct TypeCode {
  const char* text;
  Dtype dtype;
};
constexpr TypeCode kTypeCodes[] = {
    {"|b1", Dtype::kBool},      {"|i1", Dtype::kInt8},        {"<i2", Dtype::kInt16},
    {"<i4", Dtype::kInt32},     {"<i8", Dtype::kInt64},       {"|u1", Dtype::kUint8},
    {"<u2", Dtype::kUint16},    {"<u4", Dtype::kUint32},      {"<u8", Dtype::kUint64},
    {"<f2", Dtype::kFloat16},   {"<f4", Dtype::kFloat32},     {"<f8", Dtype::kFloat64},
    {"<c8", Dtype::kComplex64}, {"<c16", Dtype::kComplex128},
};

Error bad(const char* why) {
  return Error::format(Code::kInvalidArgument, "not a .npy file that can be read: %s", why);
}

/// Reads the Python literal of a dict: only what NumPy itself writes.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : text_(text) {}

  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool accept_word(std::string_view word) {
    skip_space();
    if (text_.size() - at_ < word.size() ||
        std::memcmp(text_.data() + at_, word.data(), word.size()) != 0)
      return false;
    at_ += word.size();
    return true;
  }
  /// A quoted string without escapes.
  bool accept_string(std::string_view& out) {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return false;
    const char quote = text_[at_++];
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\\')
      ++at_;
    if (at_ >= text_.size() || text_[at_] != quote) return false;
    out = {text_.data() + start, at_ - start};
    ++at_;
    return true;
  }
  bool accept_number(std::int64_t& out) {
    skip_space();
    std::uint64_t value = 0;
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      value = value * 10 + static_cast<std::uint64_t>(text_[at_++] - '0');
      if (value > kItemBytesMax) return false;
    }
    out = static_cast<std::int64_t>(value);
    return at_ > start;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

Result<Dtype> dtype_of(std::string_view descr) {
  for (const TypeCode& code : kTypeCodes) {
    // One-byte types have no byte order; both spellings occur.
    if (descr == code.text || (code.text[0] == '|' && descr.size() == 3 &&
                               descr[1] == code.text[1] && descr[2] == code.text[2]))
      return code.dtype;
  }
  return Error::format(
      Code::kUnsupported,
      "the .npy file has elements of type \"%.*s\"; save it as little-endian numbers or bool, for "
      "example numpy.save(path, x.astype(\"<f8\"))",
      static_cast<int>(std::min<std::size_t>(descr.size(), 40)), descr.data());
}

bool read_shape(DictReader& reader, std::vector<std::int64_t>& shape) {
  if (!reader.accept('(')) return false;
  while (!reader.accept(')')) {
    std::int64_t extent = 0;
    if (shape.size() == kRankMax || !reader.accept_number(extent)) return false;
    shape.push_back(extent);
    if (!reader.accept(',')) return reader.accept(')');
  }
  return true;
}

Result<Part> parse_dict(std::string_view text) {
  DictReader reader(text);
  Part part;
  Order order = Order::kC;
  bool have_descr = false;
  bool have_shape = false;
  bool have_order = false;
  if (!reader.accept('{')) return bad("its header is not a dict");
  while (!reader.accept('}')) {
    std::string_view key;
    if (!reader.accept_string(key) || !reader.accept(':')) return bad("its header has a bad key");
    if (key == "descr" && !have_descr) {
      std::string_view descr;
      if (!reader.accept_string(descr))
        return bad("it has structured elements; save each field on its own");
      WARPOOL_ASSIGN(part.dtype, dtype_of(descr));
      have_descr = true;
    } else if (key == "fortran_order" && !have_order) {
      const bool column_major = reader.accept_word("True");
      if (!column_major && !reader.accept_word("False"))
        return bad("fortran_order is neither True nor False");
      order = column_major ? Order::kF : Order::kC;
      have_order = true;
    } else if (key == "shape" && !have_shape) {
      if (!read_shape(reader, part.shape)) return bad("its shape is not a tuple of numbers");
      have_shape = true;
    } else {
      return bad("its header has an unknown or repeated key");
    }
    if (!reader.accept(',') && !reader.accept('}')) return bad("its header does not end");
    if (have_descr && have_order && have_shape) break;
  }
  if (!have_descr || !have_order || !have_shape)
    return bad("its header lacks descr, fortran_order or shape");
  WARPOOL_TRY(element_count(part.shape, part.dtype));
  part.strides = compact_strides(part.shape, part.dtype, order);
  return part;
}

}  // namespace

bool looks_like_npy(std::span<const std::uint8_t> start) {
  return start.size() >= kMagicBytes && std::memcmp(start.data(), kMagic, kMagicBytes) == 0;
}

Result<NpyHeader> parse_npy(std::span<const std::uint8_t> start) {
  if (!looks_like_npy(start)) return bad("it does not begin with the NumPy signature");
  if (start.size() < 12) return bad("it is too short");
  const std::uint8_t major = start[6];
  if (major < 1 || major > 3) return bad("its format version is newer than 3");
  const std::size_t prefix = major == 1 ? 10 : 12;
  std::size_t length = static_cast<std::size_t>(start[8]) | static_cast<std::size_t>(start[9]) << 8;
  if (major > 1)
    length |= static_cast<std::size_t>(start[10]) << 16 | static_cast<std::size_t>(start[11]) << 24;
  if (length > kNpyHeaderBytesMax || start.size() < prefix + length)
    return bad("its header is too long or cut off");
  WARPOOL_ASSIGN(Part part,
                 parse_dict({reinterpret_cast<const char*>(start.data()) + prefix, length}));
  return NpyHeader{std::move(part), prefix + length};
}

Result<Text> format_npy(const Part& part) {
  const char* code = nullptr;
  for (const TypeCode& candidate : kTypeCodes) {
    if (candidate.dtype == part.dtype) code = candidate.text;
  }
  const bool row_major = is_ordered(part, Order::kC);
  if (code == nullptr || (!row_major && !is_ordered(part, Order::kF)))
    return Error::format(Code::kInvalidArgument,
                         "only arrays in C or F order can be written as .npy");
  char dict[2048];
  int used = std::snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': %s, 'shape': (",
                           code, row_major ? "False" : "True");
  for (const std::int64_t extent : part.shape)
    used += std::snprintf(dict + used, sizeof dict - static_cast<std::size_t>(used), "%lld, ",
                          static_cast<long long>(extent));
  used += std::snprintf(dict + used, sizeof dict - static_cast<std::size_t>(used), "), }");
  const std::size_t prefix = 10;
  const std::size_t total = (prefix + static_cast<std::size_t>(used) + 1 + kNpyAlignment - 1) /
                            kNpyAlignment * kNpyAlignment;
  const std::size_t length = total - prefix;
  char header[4096];
  std::memcpy(header, kMagic, kMagicBytes);
  header[6] = 1;
  header[7] = 0;
  header[8] = static_cast<char>(length & 0xFF);
  header[9] = static_cast<char>(length >> 8);
  std::memcpy(header + prefix, dict, static_cast<std::size_t>(used));
  std::memset(header + prefix + used, ' ', length - static_cast<std::size_t>(used) - 1);
  header[total - 1] = '\n';
  return Text({header, total});
}

}  // namespace warpool::array
