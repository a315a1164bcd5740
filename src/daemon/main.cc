// SPDX-License-Identifier: Apache-2.0
// warpoold. Started by a person or a program it becomes the keeper, which starts it again with --keeper-fd as the broker.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "daemon/keeper_link.h"
#include "daemon/log_report.h"
#include "daemon/options.h"
#include "daemon/server.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/process.h"
#include "os/socket.h"
#include "wire/keeper_protocol.h"

namespace warpool::daemon {
namespace {

int fail(int status, const Error& error) {
  std::fprintf(stderr, "warpoold: %s\n", error.message.c_str());
  return status;
}

int become_keeper(const Options& options) {
  const Result<std::string> keeper = find_keeper();
  if (!keeper.ok()) return fail(wire::kExitCannotStart, keeper.error());
  const Result<Text> self = os::executable_path();
  if (!self.ok()) return fail(wire::kExitCannotStart, self.error());
  std::vector<std::string> words = {keeper.value(), self.value().c_str()};
  words.insert(words.end(), options.again.begin(), options.again.end());
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(keeper.value().c_str(), argv.data());
  return fail(wire::kExitCannotStart,
              Error::from_errno(Code::kIoError, errno, "start " + keeper.value()));
}

/// In the background: a session of its own, no terminal, no folder held.
void detach() {
  ::setsid();
  (void)!::chdir("/");
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd)
    ::dup2(null, fd);
  // Whatever the starting program had open (pipes, sockets, files) must not live on in the broker.
  os::close_from(3);
}

/// Starts the keeper in the background and returns when the socket answers.
int daemonize(const Options& options) {
  const pid_t child = ::fork();
  if (child < 0)
    return fail(wire::kExitCannotStart, Error::from_errno(Code::kIoError, errno, "fork"));
  if (child == 0) {
    detach();
    ::_exit(become_keeper(options));
  }
  constexpr std::int64_t kPatienceNs = 15 * os::kNsPerSecond;
  const std::int64_t deadline = os::monotonic_ns() + kPatienceNs;
  while (os::monotonic_ns() < deadline) {
    if (os::connect_to(options.socket_path.c_str()).ok()) return 0;
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) {
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : wire::kExitCannotStart;
      // Somebody else was faster: their broker serves as well.
      if (code == wire::kExitAlreadyRunning && os::connect_to(options.socket_path.c_str()).ok())
        return 0;
      std::fprintf(stderr,
                   "warpoold: the broker ended at once (status %d)%s%s; run it with --foreground "
                   "to see why\n",
                   code, options.log_path.empty() ? "" : ", see ", options.log_path.c_str());
      return code == 0 ? wire::kExitCannotStart : code;
    }
    os::sleep_ms(2);
  }
  return fail(wire::kExitCannotStart,
              Error::format(Code::kTimedOut, "the broker does not answer at %s",
                            options.socket_path.c_str()));
}

int serve(const Options& options) {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_IGN);  // keepers that this broker started and that died leave no zombie
  // What a keeper had open when it was started is not for the brokers that it starts.
  os::close_from(options.keeper_fd + 1);
  LogReport report(options.log_path, options.verbose);
  (void)::fcntl(options.keeper_fd, F_SETFD, FD_CLOEXEC);
  ServerOptions server_options;
  server_options.config.memory_limit = options.memory_limit;
  server_options.config.owner_uid = os::effective_user();
  server_options.config.is_private = options.is_private;
  server_options.config.version = WARPOOL_VERSION_STRING;
  server_options.socket_path = options.socket_path;
  server_options.linger_ms = options.linger_ms;
  const Result<std::string> keeper_path = find_keeper();
  if (keeper_path.ok()) server_options.keeper_path = keeper_path.value();
  const Result<Text> self = os::executable_path();
  if (self.ok()) server_options.broker_command = {self.value().c_str()};
  server_options.broker_command.insert(server_options.broker_command.end(), options.again.begin(),
                                       options.again.end());
  Server server(server_options, report, std::make_unique<KeeperLink>(os::Fd(options.keeper_fd)));
  server.set_keeper_pid(::getppid());
  const Result<void> started = server.start();
  if (!started.ok())
    return fail(started.error().code == Code::kConflict ? wire::kExitAlreadyRunning
                                                        : wire::kExitCannotStart,
                started.error());
  server.run(Server::Signals::kCatch);
  return 0;
}

}  // namespace
}  // namespace warpool::daemon

int main(int argc, char** argv) {
  int exit_code = -1;
  const warpool::daemon::Options options = warpool::daemon::parse_options(argc, argv, exit_code);
  if (exit_code >= 0) return exit_code;
  if (options.keeper_fd >= 0) return warpool::daemon::serve(options);
  if (options.daemonize) return warpool::daemon::daemonize(options);
  return warpool::daemon::become_keeper(options);
}
