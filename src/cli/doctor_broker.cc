// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/broker_process.h"
#include "cli/client.h"
#include "cli/doctor.h"
#include "cli/failure.h"
#include "cli/process.h"
#include "cli/system_text.h"
#include "cli/units.h"

namespace warpool::cli {
namespace {

/// Bytes of the trial array: more than what travels in a message, so that memory is really shared.
constexpr int64_t kTrialBytes = 1024 * 1024;

/// Limit of the control group of this process, in the layouts of both versions; 0: none.
uint64_t cgroup_limit_bytes() {
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    uint64_t bytes = 0;
    std::ifstream file(path);
    // "max" (version 2) reads as no number; version 1 says "no limit" by a number near 2^63.
    if (file >> bytes && bytes < (uint64_t{1} << 62)) return bytes;
  }
  return 0;
}

struct DropDraft {
  void operator()(warpool_draft* draft) const { warpool_discard(draft); }
};

/// Creates, fills, publishes, gets, compares and removes an array as two programs would; empty if all went well.
void try_sharing(warpool_connection* connection) {
  const std::string name = "warpool-doctor/" + random_id();
  warpool_part part{};
  call(warpool_part_init, &part, uint32_t{WARPOOL_UINT8}, 1u, &kTrialBytes,
       uint32_t{WARPOOL_ORDER_C});
  warpool_create_options options = WARPOOL_CREATE_OPTIONS_INIT;
  options.ttl_ms = 60'000;  // Should this program be killed here, the trial goes by itself.
  warpool_draft* raw = nullptr;
  call(warpool_create, connection, name.c_str(), const_cast<const warpool_part*>(&part), 1u,
       const_cast<const warpool_create_options*>(&options), &raw);
  std::unique_ptr<warpool_draft, DropDraft> draft(raw);
  std::memset(warpool_draft_data(raw, 0), 0x5A, kTrialBytes);
  call(warpool_publish, raw, static_cast<warpool_array**>(nullptr),
       static_cast<uint64_t*>(nullptr));
  static_cast<void>(draft.release());  // Publishing has consumed it.
  {
    const auto array = make<warpool_array>(warpool_get, connection, name.c_str(), uint64_t{0},
                                           static_cast<const warpool_wait*>(nullptr));
    const auto* bytes =
        static_cast<const unsigned char*>(warpool_array_get_info(array.get())->data);
    if (!std::all_of(bytes, bytes + kTrialBytes, [](unsigned char byte) { return byte == 0x5A; }))
      throw Failure(ExitCode::kFailed, "the array reads back wrong");
  }
  call(warpool_remove, connection, name.c_str(), uint64_t{0});
}

Finding check_sharing(warpool_connection* connection) {
  try {
    try_sharing(connection);
    return {
        "sharing", Verdict::kOk,
        fmt::format("published and got an array of {} without a copy", format_bytes(kTrialBytes)),
        ""};
  } catch (const Failure& failure) {
    return {"sharing", Verdict::kFailed,
            fmt::format("an array could not be published and got back: {}", failure.what()),
            "see docs/troubleshooting.md under this message"};
  }
}

Finding check_budget(const warpool_broker_info& info) {
  return judge_memory_budget(info.memory_limit,
                             meminfo_bytes(text_of_file("/proc/meminfo"), "MemTotal"),
                             cgroup_limit_bytes());
}

/// A new folder that goes with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "warpool-doctor-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr)
      throw Failure(ExitCode::kFailed,
                    fmt::format("cannot make a folder {}: {}", path_, error_text(errno)));
  }
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void check_running_broker(warpool_connection* connection, std::vector<Finding>& findings) {
  const warpool_broker_info info = broker_info(connection);
  findings.push_back(
      {"broker", Verdict::kOk,
       fmt::format("a broker runs (version {}, {})", info.broker_version, info.socket_path), ""});
  const std::string trouble = trouble_with_socket_folder(info.socket_path);
  findings.push_back(
      trouble.empty()
          ? Finding{"socket-folder", Verdict::kOk, "only its owner may replace the socket", ""}
          : Finding{"socket-folder", Verdict::kFailed, trouble, "see the line above"});
  findings.push_back(check_sharing(connection));
  findings.push_back(check_budget(info));
}

/// No broker runs: one is started in a folder of its own, tried and stopped again, so that the check changes nothing.
void check_startable_broker(std::vector<Finding>& findings) {
  const ScratchFolder folder;
  const ConnectAttempt attempt =
      try_connect(folder.path() + "/warpool.sock", StartBroker::kIfNeeded);
  if (attempt.status != WARPOOL_OK) {
    findings.push_back({"broker", Verdict::kFailed,
                        "no broker runs and none could be started: " + attempt.message,
                        "install warpoold beside this program or in PATH, or set WARPOOL_BROKER; "
                        "`warpool up --foreground` shows more"});
    return;
  }
  findings.push_back(
      {"broker", Verdict::kOk, "no broker runs; one starts when a program needs it (tried)", ""});
  findings.push_back(check_sharing(attempt.connection.get()));
  findings.push_back(check_budget(broker_info(attempt.connection.get())));
  call(warpool_shutdown, attempt.connection.get(), 1);
}

/// The folder where the next private broker would put its socket.
void check_default_folder(std::vector<Finding>& findings) {
  const std::string socket = default_socket_path();
  const std::filesystem::path folder = std::filesystem::path(socket).parent_path();
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return;
  const std::string trouble = trouble_with_socket_folder(socket);
  findings.push_back(
      trouble.empty() ? Finding{"socket-folder", Verdict::kOk,
                                fmt::format("{} is safe to hold the socket", folder.string()), ""}
                      : Finding{"socket-folder", Verdict::kFailed, trouble, "see the line above"});
}

}  // namespace

Finding judge_memory_budget(uint64_t budget_bytes, uint64_t ram_bytes, uint64_t cgroup_bytes) {
  const uint64_t most = cgroup_bytes != 0 ? std::min(cgroup_bytes, ram_bytes) : ram_bytes;
  const char* whose = most == ram_bytes ? "of memory" : "that this container or service may use";
  const std::string what = fmt::format("arrays may take {} of {} {}", format_bytes(budget_bytes),
                                       format_bytes(most), whose);
  if (most == 0 || budget_bytes <= most / 10 * 9) return {"memory-budget", Verdict::kOk, what, ""};
  return {"memory-budget", Verdict::kWarning,
          what + ": too much, programs may be killed before the budget refuses",
          fmt::format("`warpool down`, then `warpool up --max-memory {}M`", most / 2 >> 20)};
}

uint64_t meminfo_bytes(const std::string& meminfo, const std::string& key) {
  const size_t at = meminfo.find(key + ":");
  if (at == std::string::npos) return 0;
  return std::strtoull(meminfo.c_str() + at + key.size() + 1, nullptr, 10) * 1024;
}

void check_broker(const DoctorQuestions& questions, std::vector<Finding>& findings) {
  try {
    const ConnectAttempt attempt = try_connect(questions.socket, StartBroker::kNever);
    if (attempt.status == WARPOOL_OK) {
      check_running_broker(attempt.connection.get(), findings);
    } else if (attempt.status == WARPOOL_NO_BROKER) {
      check_default_folder(findings);
      check_startable_broker(findings);
    } else {
      findings.push_back({"broker", Verdict::kFailed, attempt.message,
                          "see docs/troubleshooting.md under this message"});
    }
  } catch (const Failure& failure) {
    findings.push_back({"broker", Verdict::kFailed, failure.what(),
                        "see docs/troubleshooting.md under this message"});
  }
}

}  // namespace warpool::cli
