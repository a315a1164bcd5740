// SPDX-License-Identifier: Apache-2.0
// A program that works until it is killed, and says on stdout what it did, one line each, written whole:
//
//   B name nonce             about to publish these contents
//   P name version nonce     published
//   G name version           got and checked
//   W version milliseconds   a wait ended
//   X name                   removed
//   E text                   something that may not happen; the program ends
//
// usage: chaos_worker producer|consumer|waiter SOCKET
#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "warpool/warpool.h"

namespace {

constexpr int kNames = 4;
constexpr std::uint64_t kSizes[] = {1024, 32768, 65536, 65536 + 8, 200 * 1024, 1024 * 1024};

[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) {
  char line[600];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  // The reader has gone: so has the reason to work.
  if (::write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) != length) std::_Exit(3);
}

void require(warpool_status status, const warpool_error& error, const char* what) {
  if (status == WARPOOL_OK) return;
  say("E %s: %s: %s\n", what, warpool_status_name(status), error.message);
  std::_Exit(1);
}

/// The contents of an array follow from its first word, so that every reader can check every byte.
std::uint64_t word(std::uint64_t nonce, std::uint64_t index) {
  return index == 0 ? nonce : (nonce + index) * 0x9E3779B97F4A7C15ULL;
}
void fill(std::uint64_t* data, std::uint64_t words, std::uint64_t nonce) {
  for (std::uint64_t i = 0; i < words; ++i)
    data[i] = word(nonce, i);
}

struct Held {
  warpool_array* array = nullptr;
  std::string name;
};

/// The nonce; ends the program when any byte is not what it was when it was published.
std::uint64_t check(const Held& held) {
  const warpool_array_info* info = warpool_array_get_info(held.array);
  const auto* data = static_cast<const std::uint64_t*>(info->data);
  const std::uint64_t nonce = data[0];
  for (std::uint64_t i = 0; i < info->size / 8; ++i) {
    if (data[i] == word(nonce, i)) continue;
    say("E %s version %" PRIu64 " has changed bytes at word %" PRIu64 "\n", held.name.c_str(),
        info->version, i);
    std::_Exit(1);
  }
  return nonce;
}

class Producer {
 public:
  explicit Producer(warpool_connection* connection) : connection_(connection) {}

  void run() {
    for (std::uint64_t turn = 0;; ++turn) {
      const std::uint64_t size = kSizes[random_() % std::size(kSizes)];
      publish("chaos/" + std::to_string(random_() % kNames), size);
      if (turn % 4 == 0) publish("turn", 64);
      if (turn % 8 == 0) {
        const std::string name = "gone/" + std::to_string(::getpid()) + "-" + std::to_string(turn);
        publish(name, size);
        warpool_error error{};
        require(warpool_remove(connection_, name.c_str(), 0, &error), error, "remove");
        say("X %s\n", name.c_str());
      }
      ::usleep(500);
    }
  }

 private:
  void publish(const std::string& name, std::uint64_t size) {
    const std::uint64_t nonce = random_() >> 1;
    say("B %s %" PRIu64 "\n", name.c_str(), nonce);
    warpool_part part{};
    warpool_error error{};
    const std::int64_t words = static_cast<std::int64_t>(size / 8);
    require(warpool_part_init(&part, WARPOOL_UINT64, 1, &words, WARPOOL_ORDER_C, &error), error,
            "part");
    std::uint64_t version = 0;
    if (random_() % 2 == 0) {
      std::vector<std::uint64_t> data(size / 8);
      fill(data.data(), data.size(), nonce);
      part.data = data.data();
      require(warpool_put(connection_, name.c_str(), &part, 1, nullptr, &version, &error), error,
              "put");
    } else {
      warpool_draft* draft = nullptr;
      require(warpool_create(connection_, name.c_str(), &part, 1, nullptr, &draft, &error), error,
              "create");
      fill(static_cast<std::uint64_t*>(warpool_draft_data(draft, 0)), size / 8, nonce);
      require(warpool_publish(draft, nullptr, &version, &error), error, "publish");
    }
    say("P %s %" PRIu64 " %" PRIu64 "\n", name.c_str(), version, nonce);
  }

  warpool_connection* connection_;
  std::mt19937_64 random_{std::random_device{}()};
};

void consume(warpool_connection* connection) {
  std::mt19937_64 random{std::random_device{}()};
  std::map<std::string, std::uint64_t> seen;
  std::deque<Held> kept;
  for (;;) {
    Held held;
    held.name = "chaos/" + std::to_string(random() % kNames);
    warpool_wait wait = WARPOOL_WAIT_INIT;
    wait.timeout_ms = 20'000;
    warpool_error error{};
    require(warpool_get(connection, held.name.c_str(), 0, &wait, &held.array, &error), error,
            "get");
    const std::uint64_t version = warpool_array_get_info(held.array)->version;
    if (version < seen[held.name]) {
      say("E %s went back from version %" PRIu64 " to %" PRIu64 "\n", held.name.c_str(),
          seen[held.name], version);
      std::_Exit(1);
    }
    seen[held.name] = version;
    check(held);
    say("G %s %" PRIu64 "\n", held.name.c_str(), version);
    kept.push_back(held);
    constexpr std::size_t kKeptMax = 6;
    if (kept.size() > kKeptMax) {
      // Long replaced, and perhaps made by a program that is dead now.
      check(kept.front());
      warpool_array_release(kept.front().array);
      kept.pop_front();
    }
    ::usleep(500);
  }
}

void wait_for_turns(warpool_connection* connection) {
  std::uint64_t next = 0;
  for (;;) {
    warpool_wait wait = WARPOOL_WAIT_INIT;
    wait.timeout_ms = 20'000;
    warpool_error error{};
    warpool_array* array = nullptr;
    const auto start = std::chrono::steady_clock::now();
    const warpool_status status = warpool_get(connection, "turn", next, &wait, &array, &error);
    // The version that was waited for came and went before this program asked.
    if (status == WARPOOL_NOT_FOUND && next != 0) {
      next = 0;
      continue;
    }
    require(status, error, "wait");
    const std::uint64_t version = warpool_array_get_info(array)->version;
    check({array, "turn"});
    warpool_array_release(array);
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - start);
    say("W %" PRIu64 " %lld\n", version, static_cast<long long>(waited.count()));
    next = version + 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: chaos_worker producer|consumer|waiter SOCKET\n");
    return 2;
  }
  warpool_connect_options options = WARPOOL_CONNECT_OPTIONS_INIT;
  options.socket_path = argv[2];
  options.label = argv[1];
  options.flags = WARPOOL_CONNECT_NO_START;
  warpool_connection* connection = nullptr;
  warpool_error error{};
  // The broker may be dead at this very moment; the first connect, unlike later ones, does not wait for it.
  warpool_status status = WARPOOL_NO_BROKER;
  for (int i = 0; i < 1000 && status == WARPOOL_NO_BROKER; ++i) {
    status = warpool_connect(&options, &connection, &error);
    if (status == WARPOOL_NO_BROKER) ::usleep(5000);
  }
  require(status, error, "connect");
  const std::string role = argv[1];
  if (role == "producer") Producer(connection).run();
  if (role == "consumer") consume(connection);
  wait_for_turns(connection);
}
