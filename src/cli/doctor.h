// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpool::cli {

/// What a check found. kFailed: sharing arrays does not work; kWarning: something that many need does not; kNote: good to know.
enum class Verdict : uint8_t { kOk, kNote, kWarning, kFailed };
const char* verdict_name(Verdict verdict);

struct Finding {
  std::string check;  ///< stable short name
  Verdict verdict = Verdict::kOk;
  std::string what;
  std::string remedy;  ///< empty for kOk
};

/// What the checks are told.
struct DoctorQuestions {
  std::string socket;  ///< empty: as the library finds it
  std::string python = "python3";
  std::string octave = "octave-cli";
};

// Each group tries things instead of guessing: memory is sealed, a broker is asked or started in a folder of its own, the languages
// are run. Nothing stays behind.
void check_system(std::vector<Finding>& findings);
void check_broker(const DoctorQuestions& questions, std::vector<Finding>& findings);
void check_languages(const DoctorQuestions& questions, std::vector<Finding>& findings);
void check_container(const DoctorQuestions& questions, std::vector<Finding>& findings);
void check_gpu(std::vector<Finding>& findings);

/// Whether everything essential works.
bool essentials_work(const std::vector<Finding>& findings);

// Pure pieces, for tests.

/// What the limits on open files mean.
Finding judge_fd_limits(uint64_t soft, uint64_t hard);
/// Whether a memory budget fits into the memory that there is; 0 as `cgroup_bytes`: no such limit.
Finding judge_memory_budget(uint64_t budget_bytes, uint64_t ram_bytes, uint64_t cgroup_bytes);
/// The value of a line such as "MemTotal:  16311408 kB" in bytes; 0 if there is none.
uint64_t meminfo_bytes(const std::string& meminfo, const std::string& key);
/// Whether a folder is a mount point according to /proc/self/mountinfo.
bool is_mount_point(const std::string& mountinfo, const std::string& folder);
/// What a run of Python printed: "key value" lines.
std::vector<Finding> judge_python(const std::string& program, const std::string& output);
std::vector<Finding> judge_octave(const std::string& program, const std::string& output);

}  // namespace warpool::cli
