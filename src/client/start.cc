// SPDX-License-Identifier: Apache-2.0
// Where the broker is, and starting a private one.
#include <link.h>

#include <cstdlib>
#include <cstring>

#include "client/connection.h"
#include "os/file.h"
#include "os/process.h"
#include "os/socket.h"

namespace warpool::client {
namespace {

/// Path of the object (this library, or the program it is linked into) that holds this function.
struct SelfSearch {
  Text path;
};

int find_self(dl_phdr_info* info, std::size_t, void* context) {
  const auto here = reinterpret_cast<std::uintptr_t>(&find_self);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const std::uintptr_t start = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || here < start || here >= start + segment.p_memsz) continue;
    static_cast<SelfSearch*>(context)->path = Text(info->dlpi_name);
    return 1;
  }
  return 0;
}

Text find_in_path(const char* program) {
  const char* path = os::environment("PATH");
  for (const char* part = path; part != nullptr && *part != '\0';) {
    const char* end = std::strchr(part, ':');
    const std::size_t length =
        end != nullptr ? static_cast<std::size_t>(end - part) : std::strlen(part);
    const Text candidate = Text::format("%.*s/%s", static_cast<int>(length), part, program);
    if (length > 0 && os::is_executable(candidate.c_str())) return candidate;
    part = end != nullptr ? end + 1 : nullptr;
  }
  return {};
}

/// WARPOOL_BROKER, beside the library, in the bin folder of its installation, in PATH, in the usual places.
Result<Text> find_broker() {
  const char* set = os::environment("WARPOOL_BROKER");
  if (set != nullptr) {
    if (os::is_executable(set)) return Text(set);
    return Error::format(Code::kNoBroker,
                         "WARPOOL_BROKER is %s, which is no program that can be run", set);
  }
  SelfSearch self;
  ::dl_iterate_phdr(&find_self, &self);
  if (self.path.empty()) {
    Result<Text> program = os::executable_path();
    if (program.ok()) self.path = std::move(program).value();
  }
  const Text folder = os::parent_folder(self.path.view());
  const char* const places[] = {"warpoold", "../bin/warpoold", "../../bin/warpoold",
                                "../../../bin/warpoold"};
  for (const char* place : places) {
    Text candidate = Text::format("%s/%s", folder.c_str(), place);
    if (os::is_executable(candidate.c_str())) return candidate;
  }
  if (Text found = find_in_path("warpoold"); !found.empty()) return found;
  for (const char* place : {"/usr/local/bin/warpoold", "/usr/bin/warpoold"}) {
    if (os::is_executable(place)) return Text(place);
  }
  return Error::format(Code::kNoBroker,
                       "no broker runs and warpoold was not found to start one: install Warpool, "
                       "or set WARPOOL_BROKER to its path");
}

}  // namespace

Result<SocketChoice> choose_socket(const char* given) {
  if (given != nullptr)
    return SocketChoice{Text(given), std::strcmp(given, os::kSystemSocket) != 0};
  const char* set = os::environment("WARPOOL_SOCKET");
  if (set != nullptr) return SocketChoice{Text(set), std::strcmp(set, os::kSystemSocket) != 0};
  if (os::connect_to(os::kSystemSocket).ok()) return SocketChoice{Text(os::kSystemSocket), false};
  Text path = os::private_socket_path();
  const Text folder = os::parent_folder(path.view());
  // Somebody else may have made a folder of this name in a shared temporary folder.
  if (os::file_exists(folder.c_str())) WARPOOL_TRY(os::ensure_private_folder(folder.c_str()));
  return SocketChoice{std::move(path), true};
}

Result<void> start_broker(const char* path) {
  WARPOOL_ASSIGN(Text program, find_broker());
  const Text folder = os::parent_folder(path);
  Text log = Text::format("%s.log", path);
  WARPOOL_TRY(os::ensure_private_folder(folder.c_str()));
  char* const argv[] = {const_cast<char*>(program.c_str()),
                        const_cast<char*>("--private"),
                        const_cast<char*>("--daemonize"),
                        const_cast<char*>("--socket"),
                        const_cast<char*>(path),
                        const_cast<char*>("--log"),
                        const_cast<char*>(log.c_str()),
                        nullptr};
  WARPOOL_ASSIGN(const std::int32_t pid, os::spawn(program.c_str(), argv, {}));
  // It returns when the broker serves. A host that ignores SIGCHLD leaves nothing to wait for: the connect tells.
  (void)os::reap(pid);
  if (os::connect_to(path).ok()) return {};
  return Error::format(Code::kNoBroker,
                       "a private broker (%s) was started but does not serve %s; see %s",
                       program.c_str(), path, log.c_str());
}

}  // namespace warpool::client
