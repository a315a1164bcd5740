// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "cli/broker_process.h"
#include "cli/client.h"
#include "cli/doctor.h"
#include "cli/system_text.h"
#include "os/file.h"
#include "os/process.h"

namespace warpool::cli {
namespace {

namespace fs = std::filesystem;

/// Which container engine this process runs under; empty: none that can be seen.
std::string container_engine() {
  if (os::file_exists("/run/.containerenv")) return "podman";
  if (os::file_exists("/.dockerenv")) return "docker";
  if (const std::string engine = environment_text("container"); !engine.empty()) return engine;
  const Text id = os::container_of(os::process_id());
  return id.empty() ? "" : "container " + std::string(id.c_str());
}

/// The socket folder that counts here: the one of the broker in use, else where one would be looked for first.
std::string socket_folder(const DoctorQuestions& questions) {
  const ConnectAttempt attempt = try_connect(questions.socket, StartBroker::kNever);
  const std::string socket = attempt.status == WARPOOL_OK
                                 ? broker_info(attempt.connection.get()).socket_path
                             : !questions.socket.empty()       ? questions.socket
                             : os::file_exists("/run/warpool") ? kSystemSocketPath
                                                               : default_socket_path();
  return fs::path(socket).parent_path().string();
}

Finding judge_security_module() {
  if (text_of_file("/sys/fs/selinux/enforce").starts_with('1'))
    return {"security-module", Verdict::kNote,
            "SELinux enforces: containers may be denied to connect to the broker",
            "start them with --security-opt label=disable, or add a policy that allows connectto"};
  if (text_of_file("/proc/self/attr/current").find("enforce") != std::string::npos)
    return {"security-module", Verdict::kNote,
            "AppArmor confines this process: it may deny sockets",
            "if connecting fails, start the container with --security-opt apparmor=unconfined"};
  return {"security-module", Verdict::kOk, "neither SELinux nor AppArmor stands in the way", ""};
}

}  // namespace

bool is_mount_point(const std::string& mountinfo, const std::string& folder) {
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, parent, device, root, point;
    if (words >> id >> parent >> device >> root >> point && point == folder) return true;
  }
  return false;
}

void check_container(const DoctorQuestions& questions, std::vector<Finding>& findings) {
  const std::string engine = container_engine();
  const std::string folder = socket_folder(questions);
  if (engine.empty()) {
    findings.push_back(
        {"container", Verdict::kNote, "not inside a container",
         fmt::format("to share arrays with one, start it with -v {}:/run/warpool", folder)});
  } else if (is_mount_point(text_of_file("/proc/self/mountinfo"), folder)) {
    findings.push_back({"container", Verdict::kOk,
                        fmt::format("inside a container ({}); {} is mounted", engine, folder), ""});
  } else {
    findings.push_back(
        {"container", Verdict::kNote,
         fmt::format("inside a container ({}), but {} is not mounted: arrays stay inside", engine,
                     folder),
         "start the container with -v FOLDER-OF-THE-HOST:/run/warpool; see docs/containers.md"});
  }
  findings.push_back(judge_security_module());
}

void check_gpu(std::vector<Finding>& findings) {
  findings.push_back(
      {"gpu", Verdict::kNote, "this version does not use a GPU: arrays live in main memory", ""});
}

}  // namespace warpool::cli
