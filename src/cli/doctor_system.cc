// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>

#include "cli/doctor.h"
#include "cli/process.h"
#include "cli/system_text.h"

namespace warpool::cli {
namespace {

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/// Fewer open files than this are not enough for a thousand arrays and as many programs.
constexpr uint64_t kEnoughFds = 4096;

/// Makes a sealed memory as an array is made and tries to write to it; empty if everything went as it must.
std::string trouble_with_seals() {
  const os::Fd memory(memfd_create("warpool-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid()) return "memfd_create: " + error_text(errno);
  constexpr char kByte = 'x';
  if (pwrite(memory.get(), &kByte, 1, 0) != 1) return "writing to it: " + error_text(errno);
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (fcntl(memory.get(), F_ADD_SEALS, seals) != 0) return "F_ADD_SEALS: " + error_text(errno);
  if (pwrite(memory.get(), &kByte, 1, 0) >= 0) return "a write was allowed after sealing";
  if (mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0) != MAP_FAILED)
    return "a writable mapping was allowed after sealing";
  void* view = mmap(nullptr, 1, PROT_READ, MAP_SHARED, memory.get(), 0);
  if (view == MAP_FAILED) return "mapping it: " + error_text(errno);
  const bool same = *static_cast<const char*>(view) == kByte;
  munmap(view, 1);
  return same ? "" : "it reads back wrong";
}

Finding check_seals() {
  const std::string trouble = trouble_with_seals();
  if (trouble.empty()) return {"memfd", Verdict::kOk, "sealed shared memory works", ""};
  return {"memfd", Verdict::kFailed, "sealed shared memory does not work: " + trouble,
          "use Linux 4.14 or newer; in a container allow memfd_create in its seccomp profile"};
}

/// Whether the other end of a socket can be named by a descriptor, which a reused process number cannot fake.
Finding check_peer_pidfd() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return {"seqpacket", Verdict::kFailed,
            "sockets of the kind SOCK_SEQPACKET do not work: " + error_text(errno),
            "allow AF_UNIX sockets in the sandbox or container"};
  const os::Fd first(ends[0]);
  const os::Fd second(ends[1]);
  int pidfd = -1;
  socklen_t size = sizeof pidfd;
  if (getsockopt(first.get(), SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0) {
    const os::Fd owner(pidfd);
    return {"peer-pidfd", Verdict::kOk, "programs are identified by SO_PEERPIDFD", ""};
  }
  const os::Fd fallback(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (fallback.valid())
    return {"peer-pidfd", Verdict::kNote,
            "this kernel has no SO_PEERPIDFD: pidfd_open is used instead",
            "nothing to do; Linux 6.5 and newer have it"};
  return {
      "peer-pidfd", Verdict::kWarning,
      "neither SO_PEERPIDFD nor pidfd_open works: the end of a program is seen by its socket only",
      "use Linux 5.3 or newer, or allow pidfd_open in the container's seccomp profile"};
}

Finding check_kernel() {
  utsname names{};
  uname(&names);
  return {"system", Verdict::kNote,
          fmt::format("{} {} on {}", names.sysname, names.release, names.machine), ""};
}

}  // namespace

Finding judge_fd_limits(uint64_t soft, uint64_t hard) {
  const std::string what = fmt::format("open files: {} now, {} at most", soft, hard);
  if (hard >= kEnoughFds) return {"fd-limit", Verdict::kOk, what + " (raised when needed)", ""};
  return {"fd-limit", Verdict::kWarning, what + ": too few for many arrays at once",
          fmt::format("raise the hard limit to {} or more: /etc/security/limits.conf, LimitNOFILE= "
                      "or --ulimit nofile=",
                      kEnoughFds)};
}

void check_system(std::vector<Finding>& findings) {
  findings.push_back(check_kernel());
  findings.push_back(check_seals());
  findings.push_back(check_peer_pidfd());
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
    findings.push_back(judge_fd_limits(limit.rlim_cur, limit.rlim_max));
}

}  // namespace warpool::cli
