// SPDX-License-Identifier: Apache-2.0
#include "cli/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "cli/failure.h"
#include "cli/system_text.h"
#include "os/clock.h"

namespace warpool::cli {
namespace {

/// What the child tells its parent when it cannot become the command.
struct ChildTrouble {
  int error = 0;
  bool in_folder = false;
};

[[noreturn]] void report_and_exit(int report_fd, bool in_folder) {
  const ChildTrouble trouble{errno, in_folder};
  // If even this fails, the exit status is all that is left to tell.
  const ssize_t written = write(report_fd, &trouble, sizeof trouble);
  _exit(written == static_cast<ssize_t>(sizeof trouble) ? 126 : 125);
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& additions) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!additions.contains(std::string(text.substr(0, text.find('=')))))
      entries.emplace_back(text);
  }
  for (const auto& [key, value] : additions)
    entries.push_back(fmt::format("{}={}", key, value));
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

void place_fd(int fd, int target) {
  if (fd >= 0) dup2(fd, target);
}

/// Runs in the child. Everything that allocates was done before the fork.
[[noreturn]] void become(const LaunchOptions& options, char** command, char** env, int report_fd,
                         pid_t parent) {
  if (options.group == Group::kOwn) {
    setpgid(0, 0);
    // A pipeline that is itself killed leaves no stage behind. The parent may have died before the request was made.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(125);
  }
  place_fd(options.stdin_fd, STDIN_FILENO);
  place_fd(options.stdout_fd, STDOUT_FILENO);
  place_fd(options.stderr_fd, STDERR_FILENO);
  if (!options.dir.empty() && chdir(options.dir.c_str()) != 0) report_and_exit(report_fd, true);
  std::signal(SIGPIPE, SIG_DFL);
  pthread_sigmask(SIG_SETMASK, &options.signal_mask, nullptr);
  // execvp searches the PATH of `environ`, which a stage may have set.
  environ = env;
  execvp(command[0], command);
  report_and_exit(report_fd, false);
}

/// Reads to the end of the stream; false if the time was up first.
bool read_until_end(int fd, int64_t timeout_ms, std::string& text) {
  constexpr size_t kMostKept = 64 * 1024;
  const int64_t end_ms = monotonic_ms() + timeout_ms;
  for (;;) {
    pollfd entry{fd, POLLIN, 0};
    const int64_t left_ms = std::max<int64_t>(end_ms - monotonic_ms(), 0);
    const int ready = poll(&entry, 1, static_cast<int>(std::min<int64_t>(left_ms, 60'000)));
    if (ready == 0 && left_ms == 0) return false;
    if (ready <= 0) continue;
    std::array<char, 4096> bytes;
    const ssize_t got = read(fd, bytes.data(), bytes.size());
    if (got <= 0) return true;
    text.append(bytes.data(),
                std::min(static_cast<size_t>(got), kMostKept - std::min(kMostKept, text.size())));
  }
}

}  // namespace

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Failure(
        ExitCode::kNoRoom,
        fmt::format("cannot make a pipe: {}; raise the limit with `ulimit -n`", error_text(errno)));
  return Pipe{os::Fd(ends[0]), os::Fd(ends[1])};
}

Launched launch(const LaunchOptions& options) {
  std::vector<std::string> words = options.command;
  std::vector<std::string> entries = environment_with(options.env);
  const std::vector<char*> command = pointers_to(words);
  std::vector<char*> env = pointers_to(entries);
  // The write end closes with a successful exec: an empty pipe means that the command runs.
  Pipe report = make_pipe();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return Launched{-1, errno, "a new process"};
  if (pid == 0)
    become(options, const_cast<char**>(command.data()), env.data(), report.write_end.get(), parent);
  // Set on both sides: whoever comes first, signals to the group reach the child from now on.
  if (options.group == Group::kOwn) setpgid(pid, pid);
  report.write_end.reset();
  ChildTrouble trouble;
  ssize_t got = 0;
  do {
    got = read(report.read_end.get(), &trouble, sizeof trouble);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof trouble)) return Launched{pid, 0, ""};
  waitpid(pid, nullptr, 0);
  return Launched{-1, trouble.error, trouble.in_folder ? options.dir : options.command.front()};
}

Captured capture(const std::vector<std::string>& command, int64_t timeout_ms) {
  Pipe pipe = make_pipe();
  const os::Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  LaunchOptions options;
  options.command = command;
  options.group = Group::kOwn;
  options.stdin_fd = null.get();
  options.stdout_fd = pipe.write_end.get();
  options.stderr_fd = null.get();
  sigemptyset(&options.signal_mask);
  const Launched launched = launch(options);
  Captured captured;
  if (!launched.running()) {
    captured.exit_code = exit_code_of_launch_error(launched.error);
    return captured;
  }
  captured.started = true;
  pipe.write_end.reset();
  captured.timed_out = !read_until_end(pipe.read_end.get(), timeout_ms, captured.output);
  // The program may have closed its output and run on: it had its time.
  if (captured.timed_out) kill(-launched.pid, SIGKILL);
  int status = 0;
  while (waitpid(launched.pid, &status, 0) < 0 && errno == EINTR) {
  }
  captured.exit_code =
      WIFSIGNALED(status) ? exit_code_of_signal(WTERMSIG(status)) : WEXITSTATUS(status);
  return captured;
}

int exit_code_of_launch_error(int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  return static_cast<int>(missing ? ExitCode::kCommandNotFound : ExitCode::kNotExecutable);
}

std::string random_id() {
  return fmt::format("{:016x}", os::random_u64());
}

int64_t monotonic_ms() {
  return os::monotonic_ns() / os::kNsPerMs;
}

}  // namespace warpool::cli
