// SPDX-License-Identifier: Apache-2.0
// A broker in a thread of this process, and programs that reach it over its socket through the C interface.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/report.h"
#include "daemon/keeper_link.h"
#include "daemon/server.h"
#include "warpool/warpool.h"

namespace warpool::inprocess {

class Broker {
 public:
  explicit Broker(std::uint64_t memory_limit = std::uint64_t{1} << 30)
      : memory_limit_(memory_limit) {
    char folder[] = "/tmp/warpool-inprocess-XXXXXX";
    folder_ = ::mkdtemp(folder);
    start();
  }
  ~Broker() {
    stop();
    for (const char* name : {"/w.sock", "/w.sock.lock", "/w.sock.names", "/w.sock.names.new"})
      ::unlink((folder_ + name).c_str());
    ::rmdir(folder_.c_str());
  }
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  void start() {
    daemon::ServerOptions options;
    options.config.memory_limit = memory_limit_;
    options.config.owner_uid = ::geteuid();
    options.config.version = "0.0.1";
    options.socket_path = socket();
    server_ = std::make_unique<daemon::Server>(std::move(options), report_, nullptr);
    const Result<void> started = server_->start();
    ASSERT_TRUE(started.ok()) << started.error().message.c_str();
    thread_ = std::thread([this] { server_->run(daemon::Server::Signals::kIgnore); });
  }
  void stop() {
    if (server_ == nullptr) return;
    server_->stop();
    wait_for_end();
  }
  /// It ends by itself (somebody asked it to).
  void wait_for_end() {
    thread_.join();
    server_.reset();
  }
  [[nodiscard]] std::string socket() const { return folder_ + "/w.sock"; }
  [[nodiscard]] std::string folder() const { return folder_; }

 private:
  std::uint64_t memory_limit_;
  std::string folder_;
  NullReport report_;
  std::unique_ptr<daemon::Server> server_;
  std::thread thread_;
};

class Error {
 public:
  warpool_error* out() { return &error_; }
  [[nodiscard]] std::string text() const { return error_.message; }
  [[nodiscard]] bool says(const char* part) const {
    return std::string(error_.message).find(part) != std::string::npos;
  }

 private:
  warpool_error error_{};
};

/// Owns a connection; any thread may use it. `EXPECT_OK` below shows the message of a failure.
class Program {
 public:
  explicit Program(const Broker& broker, const char* label = "", std::uint32_t flags = 0,
                   std::int64_t reconnect_ms = 20'000) {
    warpool_connect_options options = WARPOOL_CONNECT_OPTIONS_INIT;
    const std::string path = broker.socket();
    options.socket_path = path.c_str();
    options.label = label;
    options.flags = flags | WARPOOL_CONNECT_NO_START;
    options.reconnect_ms = reconnect_ms;
    Error error;
    const warpool_status status = warpool_connect(&options, &connection_, error.out());
    EXPECT_EQ(status, WARPOOL_OK) << error.text();
  }
  ~Program() { close(); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  void close() {
    warpool_close(connection_);
    connection_ = nullptr;
  }
  operator warpool_connection*() { return connection_; }  // NOLINT(google-explicit-constructor)

  [[nodiscard]] warpool_broker_info info() {
    warpool_broker_info info{};
    Error error;
    EXPECT_EQ(warpool_get_broker_info(connection_, &info, error.out()), WARPOOL_OK) << error.text();
    return info;
  }
  [[nodiscard]] std::uint32_t viewers(const char* name) {
    warpool_listing* listing = nullptr;
    Error error;
    EXPECT_EQ(warpool_stat(connection_, name, 0, &listing, error.out()), WARPOOL_OK)
        << error.text();
    if (listing == nullptr) return 0;
    const std::uint32_t count = warpool_listing_get(listing, 0)->viewers;
    warpool_listing_free(listing);
    return count;
  }

 private:
  warpool_connection* connection_ = nullptr;
};

struct ReleaseArray {
  void operator()(warpool_array* array) const { warpool_array_release(array); }
};
using Array = std::unique_ptr<warpool_array, ReleaseArray>;

inline warpool_wait wait_ms(std::int64_t ms) {
  warpool_wait wait = WARPOOL_WAIT_INIT;
  wait.timeout_ms = ms;
  return wait;
}

inline warpool_part doubles(std::int64_t count, const double* data = nullptr) {
  warpool_part part;
  EXPECT_EQ(warpool_part_init(&part, WARPOOL_FLOAT64, 1, &count, WARPOOL_ORDER_C, nullptr),
            WARPOOL_OK);
  part.data = data;
  return part;
}

/// Doubles that begin with `first` and count up.
inline std::vector<double> ramp(std::size_t count, double first) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = first + static_cast<double>(i);
  return values;
}

inline warpool_status put(warpool_connection* connection, const char* name, std::size_t count,
                          double first, warpool_error* error = nullptr,
                          const warpool_create_options* options = nullptr) {
  const std::vector<double> values = ramp(count, first);
  const warpool_part part = doubles(static_cast<std::int64_t>(count), values.data());
  return warpool_put(connection, name, &part, 1, options, nullptr, error);
}

inline Array get(warpool_connection* connection, const char* name, std::int64_t timeout_ms = 0,
                 warpool_status expected = WARPOOL_OK) {
  warpool_array* array = nullptr;
  Error error;
  const warpool_wait wait = wait_ms(timeout_ms);
  EXPECT_EQ(
      warpool_get(connection, name, 0, timeout_ms != 0 ? &wait : nullptr, &array, error.out()),
      expected)
      << error.text();
  return Array(array);
}

inline const double* values_of(const Array& array) {
  return static_cast<const double*>(warpool_array_get_info(array.get())->data);
}

constexpr std::size_t kSmall = 8;                   ///< doubles that travel in the message
constexpr std::size_t kLarge = 20'000;              ///< doubles in a memfd
constexpr std::size_t kHuge = 2 * 1024 * 1024 / 8;  ///< doubles that make a spare

}  // namespace warpool::inprocess

#define EXPECT_OK(call, error) EXPECT_EQ(call, WARPOOL_OK) << (error).text()
