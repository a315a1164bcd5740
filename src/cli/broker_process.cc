// SPDX-License-Identifier: Apache-2.0
#include "cli/broker_process.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>

#include "cli/failure.h"
#include "cli/process.h"
#include "cli/system_text.h"
#include "os/file.h"

namespace warpool::cli {
namespace {

constexpr const char* kBrokerProgram = "warpoold";

bool executable(const std::string& path) {
  return os::is_executable(path.c_str());
}

std::string folder_of_this_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

std::string in_path(const std::string& program) {
  const std::string path = environment_text("PATH");
  size_t start = 0;
  while (start <= path.size() && !path.empty()) {
    const size_t colon = std::min(path.find(':', start), path.size());
    const std::string candidate = fmt::format("{}/{}", path.substr(start, colon - start), program);
    if (executable(candidate)) return candidate;
    start = colon + 1;
  }
  return "";
}

}  // namespace

std::string find_broker_program() {
  const std::string given = environment_text("WARPOOL_BROKER");
  if (!given.empty()) {
    if (executable(given)) return given;
    throw Failure(
        ExitCode::kNoBroker,
        fmt::format("WARPOOL_BROKER={} is no program that can be started; correct it or unset it",
                    given));
  }
  const std::string folder = folder_of_this_program();
  const std::string beside = folder + "/" + kBrokerProgram;
  if (executable(beside)) return beside;
  const std::string found = in_path(kBrokerProgram);
  if (!found.empty()) return found;
  throw Failure(
      ExitCode::kNoBroker,
      fmt::format("the broker's program {} is neither in {} nor in PATH; install it, or set "
                  "WARPOOL_BROKER to where it is",
                  kBrokerProgram, folder));
}

std::string default_socket_path() {
  if (const std::string given = environment_text("WARPOOL_SOCKET"); !given.empty()) return given;
  if (const std::string runtime = environment_text("XDG_RUNTIME_DIR"); !runtime.empty())
    return runtime + "/warpool/warpool.sock";
  std::string temporary = environment_text("TMPDIR");
  if (temporary.empty()) temporary = "/tmp";
  return fmt::format("{}/warpool-{}/warpool.sock", temporary, getuid());
}

void make_socket_folder(const std::string& socket_path) {
  const std::string folder = std::filesystem::path(socket_path).parent_path().string();
  if (!folder.empty() && mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    throw Failure(
        errno == EACCES ? ExitCode::kPermission : ExitCode::kFailed,
        fmt::format("cannot make the folder {} for the socket: {}; choose another with --socket",
                    folder, error_text(errno)));
  if (const std::string trouble = trouble_with_socket_folder(socket_path); !trouble.empty())
    throw Failure(ExitCode::kPermission, trouble);
}

std::string trouble_with_socket_folder(const std::string& socket_path) {
  std::string folder = std::filesystem::path(socket_path).parent_path().string();
  if (folder.empty()) folder = ".";
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0)
    return fmt::format("the socket's folder {} cannot be read: {}", folder, error_text(errno));
  if (status.st_uid != getuid() && status.st_uid != 0)
    return fmt::format(
        "the socket's folder {} belongs to uid {}, who could pose as the broker; remove it, or "
        "choose another "
        "with --socket or WARPOOL_SOCKET",
        folder, status.st_uid);
  // The sticky bit does not help: somebody else could make the socket first.
  if ((status.st_mode & S_IWOTH) != 0)
    return fmt::format(
        "everybody may write to the socket's folder {}, so anybody could pose as the broker; run "
        "`chmod o-w "
        "{}`, or choose another folder",
        folder, folder);
  return "";
}

int run_broker_program(const std::vector<std::string>& command) {
  LaunchOptions options;
  options.command = command;
  sigemptyset(&options.signal_mask);
  const Launched launched = launch(options);
  if (!launched.running())
    throw Failure(ExitCode::kNoBroker,
                  fmt::format("cannot start {}: {}", launched.what, error_text(launched.error)));
  int status = 0;
  while (waitpid(launched.pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : exit_code_of_signal(WTERMSIG(status));
}

void become_broker_program(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  throw Failure(ExitCode::kNoBroker,
                fmt::format("cannot start {}: {}", command[0], error_text(errno)));
}

}  // namespace warpool::cli
