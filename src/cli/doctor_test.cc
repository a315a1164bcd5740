// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "cli/broker_process.h"
#include "cli/process.h"

namespace warpool::cli {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(Doctor, FdLimits) {
  EXPECT_EQ(judge_fd_limits(1024, 4096).verdict, Verdict::kOk);
  const Finding finding = judge_fd_limits(1024, 4095);
  EXPECT_EQ(finding.verdict, Verdict::kWarning);
  EXPECT_NE(finding.remedy.find("4096"), std::string::npos);
}

TEST(Doctor, BudgetMustFitIntoMemoryAndControlGroup) {
  EXPECT_EQ(judge_memory_budget(8 * kGiB, 16 * kGiB, 0).verdict, Verdict::kOk);
  EXPECT_EQ(judge_memory_budget(15 * kGiB, 16 * kGiB, 0).verdict, Verdict::kWarning);
  const Finding finding = judge_memory_budget(8 * kGiB, 16 * kGiB, 4 * kGiB);
  EXPECT_EQ(finding.verdict, Verdict::kWarning);
  EXPECT_NE(finding.remedy.find("--max-memory 2048M"), std::string::npos) << finding.remedy;
}

TEST(Doctor, ReadsMeminfo) {
  const std::string text = "MemTotal:       16311408 kB\nMemFree:         1 kB\n";
  EXPECT_EQ(meminfo_bytes(text, "MemTotal"), uint64_t{16311408} * 1024);
  EXPECT_EQ(meminfo_bytes(text, "MemFree"), 1024u);
  EXPECT_EQ(meminfo_bytes(text, "Swap"), 0u);
}

TEST(Doctor, FindsMountPoints) {
  const std::string text =
      "22 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw\n"
      "35 22 254:1 /srv/pool /run/warpool ro,relatime - ext4 /dev/vda1 rw\n";
  EXPECT_TRUE(is_mount_point(text, "/run/warpool"));
  EXPECT_FALSE(is_mount_point(text, "/run"));
  EXPECT_FALSE(is_mount_point(text, "/srv/pool"));
}

TEST(Doctor, PythonAnswers) {
  auto findings = judge_python("python3", "python 3.11.2\nnumpy 1.24.2\nwarpool 0.1.0\n");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].what, "Python 3.11.2 with NumPy 1.24.2 (python3)");
  EXPECT_EQ(findings[1].verdict, Verdict::kOk);
  findings = judge_python(
      "python3", "python 3.11.2\nnumpy-missing No module named 'numpy'\nwarpool-missing broken\n");
  EXPECT_EQ(findings[0].verdict, Verdict::kWarning);
  EXPECT_EQ(findings[1].verdict, Verdict::kWarning);
  EXPECT_NE(findings[1].what.find("broken"), std::string::npos);
}

TEST(Doctor, OctaveAnswers) {
  auto findings = judge_octave("octave-cli", "octave 7.3.0\nwarpool 0.1.0\ngateway oct\n");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[1].what, "the package warpool 0.1.0 works through its oct gateway");
  findings = judge_octave("octave-cli", "octave 7.3.0\nwarpool-missing 'warpool' undefined\n");
  EXPECT_EQ(findings[1].verdict, Verdict::kWarning);
  EXPECT_FALSE(findings[1].remedy.empty());
}

TEST(Doctor, OnlyFailuresMeanThatSharingDoesNotWork) {
  EXPECT_TRUE(essentials_work({{"a", Verdict::kWarning, "", ""}, {"b", Verdict::kNote, "", ""}}));
  EXPECT_FALSE(essentials_work({{"a", Verdict::kOk, "", ""}, {"b", Verdict::kFailed, "", ""}}));
}

TEST(Doctor, SystemChecksPassOnAMachineThatRunsTheTests) {
  std::vector<Finding> findings;
  check_system(findings);
  EXPECT_TRUE(essentials_work(findings));
  for (const Finding& finding : findings)
    EXPECT_TRUE(finding.verdict == Verdict::kOk || !finding.what.empty());
}

TEST(SocketFolder, MustNotBeWritableForOthers) {
  std::string folder = (std::filesystem::temp_directory_path() / "doctor-test-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_EQ(trouble_with_socket_folder(folder + "/warpool.sock"), "");
  chmod(folder.c_str(), 01777);
  EXPECT_NE(trouble_with_socket_folder(folder + "/warpool.sock"), "");
  std::filesystem::remove(folder);
  EXPECT_NE(trouble_with_socket_folder(folder + "/warpool.sock").find("cannot be read"),
            std::string::npos);
}

TEST(Capture, OutputStatusAndTime) {
  Captured captured = capture({"sh", "-c", "echo hi; exit 3"}, 5000);
  EXPECT_TRUE(captured.started);
  EXPECT_EQ(captured.output, "hi\n");
  EXPECT_EQ(captured.exit_code, 3);
  captured = capture({"/no/such/program"}, 5000);
  EXPECT_FALSE(captured.started);
  captured = capture({"sleep", "60"}, 100);
  EXPECT_TRUE(captured.timed_out);
  captured = capture({"sh", "-c", "yes | head -c 1000000"}, 5000);
  EXPECT_EQ(captured.output.size(), 65536u);
  EXPECT_EQ(captured.exit_code, 0);
}

}  // namespace
}  // namespace warpool::cli
