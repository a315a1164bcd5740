// SPDX-License-Identifier: Apache-2.0
#include "os/process.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "os/file.h"

extern char** environ;

namespace warpool::os {
namespace {

constexpr std::size_t kCommandBytesMax = 120;
/// Containers are named by 64 hexadecimal digits; people read the first twelve.
constexpr std::size_t kContainerIdBytes = 64;
constexpr std::size_t kContainerShortBytes = 12;

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

}  // namespace

const char* environment(const char* name) {
  // We only read. A host that changes its environment while other threads read it breaks every library in its process.
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr && *value != '\0' ? value : nullptr;
}

std::int32_t process_id() {
  return ::getpid();
}
std::uint32_t effective_user() {
  return ::geteuid();
}

Text user_name(std::uint32_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  char buffer[2048];
  if (::getpwuid_r(uid, &entry, buffer, sizeof buffer, &found) == 0 && found != nullptr)
    return Text(found->pw_name);
  return Text::format("%u", uid);
}

Result<std::uint32_t> user_id(const char* name) {
  char* end = nullptr;
  const unsigned long number = std::strtoul(name, &end, 10);
  if (name[0] >= '0' && name[0] <= '9' && *end == '\0' && number < 0xFFFFFFFFUL)
    return static_cast<std::uint32_t>(number);
  passwd entry{};
  passwd* found = nullptr;
  char buffer[2048];
  if (::getpwnam_r(name, &entry, buffer, sizeof buffer, &found) == 0 && found != nullptr)
    return static_cast<std::uint32_t>(found->pw_uid);
  return Error::format(Code::kNotFound, "there is no user \"%s\" on this machine", name);
}

Text command_line(std::int32_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
  const Result<Text> raw = read_small_file(path);
  if (!raw.ok()) return {};
  char text[kCommandBytesMax];
  std::size_t length = 0;
  for (const char c : raw.value().view()) {
    if (length == sizeof text) break;
    // What another process calls itself is shown on terminals: nothing but printable characters.
    text[length++] = c == '\0' ? ' ' : (c >= ' ' && c < 0x7F ? c : '?');
  }
  while (length > 0 && text[length - 1] == ' ')
    --length;
  return Text({text, length});
}

Text container_in_cgroup(std::string_view text) {
  std::size_t run = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && is_hex(text[i])) {
      ++run;
      continue;
    }
    if (run == kContainerIdBytes) return Text({text.data() + (i - run), kContainerShortBytes});
    run = 0;
  }
  return {};
}

Text container_of(std::int32_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
  const Result<Text> text = read_small_file(path);
  return text.ok() ? container_in_cgroup(text.value().view()) : Text();
}

Fd open_process(std::int32_t pid) {
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool has_ended(const Fd& pidfd) {
  if (!pidfd.valid()) return false;
  pollfd entry{pidfd.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

Result<std::int32_t> spawn(const char* path, char* const argv[], std::span<const int> inherited) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  // First to other numbers, then down to 3, 4, ...: a source may itself be one of the target numbers. Neither step may overwrite
  // a source that is still needed.
  const int count = static_cast<int>(inherited.size());
  std::vector<int> away;
  for (int next = 3 + count; static_cast<int>(away.size()) < count; ++next) {
    if (std::find(inherited.begin(), inherited.end(), next) == inherited.end())
      away.push_back(next);
  }
  for (std::size_t i = 0; i < away.size(); ++i)
    ::posix_spawn_file_actions_adddup2(&actions, inherited[i], away[i]);
  for (int i = 0; i < count; ++i) {
    const int from = away[static_cast<std::size_t>(i)];
    ::posix_spawn_file_actions_adddup2(&actions, from, 3 + i);
    ::posix_spawn_file_actions_addclose(&actions, from);
  }
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int status = ::posix_spawn(&pid, path, &actions, &attributes, argv, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (status != 0) {
    char what[512];
    std::snprintf(what, sizeof what, "start %s", path);
    return Error::from_errno(Code::kIoError, status, what);
  }
  return pid;
}

bool reap(std::int32_t pid) {
  int status = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(pid, &status, 0);
  } while (got < 0 && errno == EINTR);
  return got == pid;
}

}  // namespace warpool::os
