// SPDX-License-Identifier: Apache-2.0
// With real processes; the decisions themselves are tested in pipeline_plan_test.cc.
#include "cli/pipeline_runner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/process.h"
#include "cli/system_text.h"

namespace warpool::cli {
namespace {

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    std::string name = (std::filesystem::temp_directory_path() / "runner-test-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~RunnerTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  /// Adds a stage that sh runs in the test's folder.
  Stage& add(const std::string& name, const std::string& command,
             std::vector<size_t> depends = {}) {
    Stage stage;
    stage.name = name;
    stage.label = name;
    stage.command = {"/bin/sh", "-c", command};
    stage.depends = std::move(depends);
    stage.dir = folder_;
    pipeline_.stages.push_back(stage);
    return pipeline_.stages.back();
  }

  PipelineReport run(int64_t grace_ms = 3000) {
    RunnerOptions options;
    options.grace_ms = grace_ms;
    options.socket_path = "/the/socket";
    for (size_t i = 0; i < pipeline_.stages.size(); ++i)
      options.run_ids.push_back("run" + std::to_string(i));
    const os::Fd out(open(path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const os::Fd err(open(path("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    return run_pipeline(pipeline_, options, Output(out.get(), colours_, 0),
                        Output(err.get(), colours_, 0));
  }

  std::string out() const { return text_of_file(path("out")); }
  std::string err() const { return text_of_file(path("err")); }

  std::string folder_;
  Pipeline pipeline_;
  bool colours_ = false;
};

TEST_F(RunnerTest, PrefixesBothStreamsAndKeepsThemApart) {
  add("a", "echo one; echo two >&2");
  add("long-name", "printf three");
  const PipelineReport report = run();
  EXPECT_EQ(report.exit_code, 0);
  std::string text = out();
  EXPECT_NE(text.find("a         | one\n"), std::string::npos) << text;
  EXPECT_NE(text.find("long-name | three\n"), std::string::npos) << text;
  EXPECT_EQ(err(), "a         | two\n");
  EXPECT_GT(report.stages[0].peak_bytes, 100'000u);
}

TEST_F(RunnerTest, PrefixesAreColoured) {
  colours_ = true;
  add("a", "echo x");
  add("b", "echo y", {0});
  run();
  EXPECT_EQ(out(), "\x1b[36ma |\x1b[0m x\n\x1b[35mb |\x1b[0m y\n");
}

TEST_F(RunnerTest, StagesSeeTheirEnvironmentAndFolder) {
  add("a", "echo $WARPOOL_RUN $WARPOOL_SOCKET $WARPOOL_LABEL $X; pwd").env = {{"X", "5"}};
  run();
  EXPECT_EQ(out(),
            "a | run0 /the/socket a 5\na | " + std::filesystem::canonical(folder_).string() + "\n");
}

TEST_F(RunnerTest, DependentsStartAfterTheEnd) {
  add("first", "sleep 0.2; touch made");
  add("second", "test -e made && echo seen", {0});
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_EQ(out(), "second | seen\n");
}

TEST_F(RunnerTest, FailureEndsTheOthersAndNamesTheCulprit) {
  add("bad", "sleep 0.1; exit 7");
  add("long", "sleep 60");
  add("never", "echo no", {0});
  const PipelineReport report = run();
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_LT(report.elapsed_ms, 3000);
  EXPECT_EQ(report.stages[0].state, StageState::kFailed);
  EXPECT_EQ(report.stages[0].end.exit_status, 7);
  EXPECT_EQ(report.stages[1].state, StageState::kStopped);
  EXPECT_EQ(report.stages[1].end.signal_number, SIGTERM);
  EXPECT_EQ(report.stages[2].state, StageState::kSkipped);
  EXPECT_EQ(err(), "bad   | ended with exit status 7; ending the other stages\n");
}

TEST_F(RunnerTest, WhoIgnoresSigtermIsKilledAfterTheGrace) {
  add("stubborn", "trap '' TERM; touch ready; sleep 60");
  add("bad", "while ! test -e ready; do sleep 0.01; done; exit 1");
  const PipelineReport report = run(300);
  EXPECT_EQ(report.stages[0].end.signal_number, SIGKILL);
  EXPECT_GE(report.elapsed_ms, 300);
  EXPECT_LT(report.elapsed_ms, 3000);
}

TEST_F(RunnerTest, CommandThatDoesNotExistIsNamed) {
  add("a", "").command = {"/no/such/program"};
  add("b", "echo no", {0});
  const PipelineReport report = run();
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_TRUE(report.stages[0].end.could_not_start);
  EXPECT_EQ(err(),
            "a | cannot start: /no/such/program: No such file or directory\n"
            "a | could not be started; ending the other stages\n");
}

TEST_F(RunnerTest, FolderThatDoesNotExistIsNamed) {
  add("a", "echo x").dir = "/no/such/folder";
  EXPECT_EQ(run().exit_code, 1);
  EXPECT_NE(err().find("cannot start: /no/such/folder: No such file or directory"),
            std::string::npos)
      << err();
}

TEST_F(RunnerTest, WhatAStageLeavesBehindIsEnded) {
  add("a", "sleep 60 & echo $! > pid; echo done");
  const PipelineReport report = run();
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_LT(report.elapsed_ms, 3000);
  std::ifstream file(path("pid"));
  pid_t pid = 0;
  file >> pid;
  ASSERT_GT(pid, 0);
  // Its end is seen at once, but the new parent may take a moment to reap it: a zombie has an empty command line.
  EXPECT_EQ(text_of_file("/proc/" + std::to_string(pid) + "/cmdline"), "");
}

TEST_F(RunnerTest, HugeLinesAndBinaryOutputComeThrough) {
  add("a",
      "head -c 300000 /dev/zero | tr '\\0' 'x'; echo; head -c 256000 /dev/urandom | tr '\\r\\n' "
      "'..' > raw; cat raw");
  EXPECT_EQ(run().exit_code, 0);
  std::string text;
  std::string lines = out();
  for (size_t at = 0; at < lines.size();) {
    ASSERT_EQ(lines.compare(at, 4, "a | "), 0);
    const size_t end = lines.find('\n', at);
    text += lines.substr(at + 4, end - at - 4);
    at = end + 1;
  }
  EXPECT_TRUE(text == std::string(300'000, 'x') + text_of_file(path("raw")));
}

TEST_F(RunnerTest, ManyStagesWithMuchOutputLoseNothing) {
  for (int i = 0; i < 20; ++i)
    add("s" + std::to_string(i), "seq 20000");
  EXPECT_EQ(run().exit_code, 0);
  const std::string text = out();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 20 * 20000);
}

}  // namespace
}  // namespace warpool::cli
