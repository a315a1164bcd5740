// SPDX-License-Identifier: Apache-2.0
/**
 * @file warpool.hpp
 * Thin C++20 wrapper of warpool.h: owners instead of handles, exceptions instead of status codes, spans instead of pointers. It adds no
 * behaviour; what blocks, which threads may call, and how memory is laid out is said in warpool.h.
 *
 *   warpool::Connection pool;
 *   auto draft = pool.create<double>("lab/ramp", {1000, 8}, WARPOOL_ORDER_F);
 *   std::ranges::fill(draft.values(), 1.0);
 *   draft.publish();
 *   warpool::Array array = pool.get("lab/ramp");
 *   double first = array.values<double>()[0];
 */
#ifndef WARPOOL_WARPOOL_HPP
#define WARPOOL_WARPOOL_HPP

#include <warpool/warpool.h>

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace warpool {

/// What a failed call throws: the message of the library and its status code.
class Exception : public std::runtime_error {
 public:
  explicit Exception(const warpool_error& error)
      : std::runtime_error(error.message), code_(static_cast<warpool_status>(error.code)) {}
  [[nodiscard]] warpool_status code() const noexcept { return code_; }

 private:
  warpool_status code_;
};

namespace detail {

template <typename Call>
void check(Call&& call) {
  warpool_error error;
  if (call(&error) != WARPOOL_OK) throw Exception(error);
}

template <typename T>
struct DtypeOf;
template <>
struct DtypeOf<bool> {
  static constexpr uint32_t kValue = WARPOOL_BOOL;
};
template <>
struct DtypeOf<int8_t> {
  static constexpr uint32_t kValue = WARPOOL_INT8;
};
template <>
struct DtypeOf<int16_t> {
  static constexpr uint32_t kValue = WARPOOL_INT16;
};
template <>
struct DtypeOf<int32_t> {
  static constexpr uint32_t kValue = WARPOOL_INT32;
};
template <>
struct DtypeOf<int64_t> {
  static constexpr uint32_t kValue = WARPOOL_INT64;
};
template <>
struct DtypeOf<uint8_t> {
  static constexpr uint32_t kValue = WARPOOL_UINT8;
};
template <>
struct DtypeOf<uint16_t> {
  static constexpr uint32_t kValue = WARPOOL_UINT16;
};
template <>
struct DtypeOf<uint32_t> {
  static constexpr uint32_t kValue = WARPOOL_UINT32;
};
template <>
struct DtypeOf<uint64_t> {
  static constexpr uint32_t kValue = WARPOOL_UINT64;
};
template <>
struct DtypeOf<float> {
  static constexpr uint32_t kValue = WARPOOL_FLOAT32;
};
template <>
struct DtypeOf<double> {
  static constexpr uint32_t kValue = WARPOOL_FLOAT64;
};
template <>
struct DtypeOf<std::complex<float>> {
  static constexpr uint32_t kValue = WARPOOL_COMPLEX64;
};
template <>
struct DtypeOf<std::complex<double>> {
  static constexpr uint32_t kValue = WARPOOL_COMPLEX128;
};

inline std::size_t element_count(const warpool_part& part) {
  std::size_t count = 1;
  for (uint32_t i = 0; i < part.ndim; ++i)
    count *= static_cast<std::size_t>(part.shape[i]);
  return count;
}

}  // namespace detail

/// A published, read-only item. Copies share it.
class Array {
 public:
  /// Takes over one reference.
  explicit Array(warpool_array* array) noexcept : array_(array) {}
  Array(const Array& other) noexcept : array_(other.array_) {
    if (array_ != nullptr) warpool_array_retain(array_);
  }
  Array(Array&& other) noexcept : array_(std::exchange(other.array_, nullptr)) {}
  Array& operator=(Array other) noexcept {
    std::swap(array_, other.array_);
    return *this;
  }
  ~Array() { warpool_array_release(array_); }

  [[nodiscard]] const warpool_array_info& info() const noexcept {
    return *warpool_array_get_info(array_);
  }
  [[nodiscard]] const warpool_part& part(uint32_t index = 0) const {
    if (index >= info().part_count) throw std::out_of_range("warpool::Array::part");
    return info().parts[index];
  }
  [[nodiscard]] uint64_t version() const noexcept { return info().version; }
  /// The elements in the order of memory, for compact parts (all but arrays published with gaps). Throws std::invalid_argument when T is not
  /// the element type.
  template <typename T>
  [[nodiscard]] std::span<const T> values(uint32_t index = 0) const {
    const warpool_part& one = part(index);
    if (one.dtype != detail::DtypeOf<T>::kValue)
      throw std::invalid_argument(std::string("the array has elements of type ") +
                                  warpool_dtype_name(one.dtype));
    return {static_cast<const T*>(one.data), detail::element_count(one)};
  }

 private:
  warpool_array* array_;
};

/// A plain array of T that is being filled. Dropped unless published.
template <typename T>
class Draft {
 public:
  Draft(warpool_draft* draft, std::size_t count) noexcept : draft_(draft), count_(count) {}
  Draft(Draft&& other) noexcept
      : draft_(std::exchange(other.draft_, nullptr)), count_(other.count_) {}
  Draft& operator=(Draft&& other) noexcept {
    std::swap(draft_, other.draft_);
    std::swap(count_, other.count_);
    return *this;
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() { warpool_discard(draft_); }

  /// The elements in the order of memory; valid until publish().
  [[nodiscard]] std::span<T> values() const noexcept {
    return {static_cast<T*>(warpool_draft_data(draft_, 0)), count_};
  }
  /// Seals and publishes; returns the version. The draft is empty afterwards.
  uint64_t publish() {
    uint64_t version = 0;
    detail::check(
        [&](warpool_error* error) { return warpool_publish(draft_, nullptr, &version, error); });
    draft_ = nullptr;
    return version;
  }

 private:
  warpool_draft* draft_;
  std::size_t count_;
};

/// One session with the broker.
class Connection {
 public:
  /// Starts a private broker when none runs.
  Connection() : Connection(nullptr) {}
  explicit Connection(const warpool_connect_options& options) : Connection(&options) {}
  Connection(Connection&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)) {}
  Connection& operator=(Connection&& other) noexcept {
    std::swap(connection_, other.connection_);
    return *this;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { warpool_close(connection_); }

  /// For calls that this wrapper does not have.
  [[nodiscard]] warpool_connection* handle() const noexcept { return connection_; }

  template <typename T>
  [[nodiscard]] Draft<T> create(const std::string& name, std::initializer_list<int64_t> shape,
                                warpool_order order = WARPOOL_ORDER_C) {
    const warpool_part part = describe<T>(shape, order, nullptr);
    warpool_draft* draft = nullptr;
    detail::check([&](warpool_error* error) {
      return warpool_create(connection_, name.c_str(), &part, 1, nullptr, &draft, error);
    });
    return Draft<T>(draft, detail::element_count(part));
  }
  /// Copies `values`, in the given order, and publishes them. Throws std::invalid_argument when their number is not that of the shape.
  template <typename T>
  uint64_t put(const std::string& name, std::span<const T> values,
               std::initializer_list<int64_t> shape, warpool_order order = WARPOOL_ORDER_C) {
    const warpool_part part = describe<T>(shape, order, values.data());
    if (detail::element_count(part) != values.size())
      throw std::invalid_argument("warpool: the shape has another number of elements");
    uint64_t version = 0;
    detail::check([&](warpool_error* error) {
      return warpool_put(connection_, name.c_str(), &part, 1, nullptr, &version, error);
    });
    return version;
  }
  /// `timeout_ms` as in warpool_wait: 0 does not wait.
  [[nodiscard]] Array get(const std::string& name, int64_t timeout_ms = 0, uint64_t version = 0) {
    warpool_wait wait = WARPOOL_WAIT_INIT;
    wait.timeout_ms = timeout_ms;
    warpool_array* array = nullptr;
    detail::check([&](warpool_error* error) {
      return warpool_get(connection_, name.c_str(), version, &wait, &array, error);
    });
    return Array(array);
  }
  void remove(const std::string& name) {
    detail::check(
        [&](warpool_error* error) { return warpool_remove(connection_, name.c_str(), 0, error); });
  }

 private:
  explicit Connection(const warpool_connect_options* options) {
    detail::check(
        [&](warpool_error* error) { return warpool_connect(options, &connection_, error); });
  }
  template <typename T>
  static warpool_part describe(std::initializer_list<int64_t> shape, warpool_order order,
                               const T* data) {
    warpool_part part;
    const std::vector<int64_t> extents(shape);
    detail::check([&](warpool_error* error) {
      return warpool_part_init(&part, detail::DtypeOf<T>::kValue,
                               static_cast<uint32_t>(extents.size()), extents.data(), order, error);
    });
    part.data = data;
    return part;
  }

  warpool_connection* connection_ = nullptr;
};

}  // namespace warpool

#endif  // WARPOOL_WARPOOL_HPP
