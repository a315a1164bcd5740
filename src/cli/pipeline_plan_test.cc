// SPDX-License-Identifier: Apache-2.0
#include "cli/pipeline_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace warpool::cli {
namespace {

using Kind = PlanAction::Kind;
using Actions = std::vector<PlanAction>;

/// Stages "0", "1", ... with the given dependencies.
Pipeline pipeline_of(const std::vector<std::vector<size_t>>& depends) {
  Pipeline pipeline;
  for (const auto& needed : depends) {
    Stage stage;
    stage.name = std::to_string(pipeline.stages.size());
    stage.depends = needed;
    pipeline.stages.push_back(stage);
  }
  return pipeline;
}

ProcessEnd exit_with(int status) {
  return ProcessEnd{status, 0, false};
}
ProcessEnd killed_by(int signal_number) {
  return ProcessEnd{0, signal_number, false};
}

TEST(Plan, StartsTogetherWhatDependsOnNothing) {
  const Pipeline pipeline = pipeline_of({{}, {0}, {}});
  PipelinePlan plan(pipeline, 5000);
  EXPECT_EQ(plan.begin(0), (Actions{{Kind::kStart, 0}, {Kind::kStart, 2}}));
  EXPECT_EQ(plan.ended(0, exit_with(0), 10), (Actions{{Kind::kStart, 1}}));
  EXPECT_EQ(plan.ended(2, exit_with(0), 20), Actions{});
  EXPECT_FALSE(plan.done());
  EXPECT_EQ(plan.ended(1, exit_with(0), 30), Actions{});
  EXPECT_TRUE(plan.done());
  EXPECT_EQ(plan.exit_code(), 0);
  EXPECT_EQ(plan.started_ms(1), 10);
  EXPECT_EQ(plan.ended_ms(1), 30);
}

TEST(Plan, WaitsForAllDependencies) {
  const Pipeline pipeline = pipeline_of({{}, {}, {0, 1}});
  PipelinePlan plan(pipeline, 5000);
  plan.begin(0);
  EXPECT_EQ(plan.ended(0, exit_with(0), 1), Actions{});
  EXPECT_EQ(plan.ended(1, exit_with(0), 2), (Actions{{Kind::kStart, 2}}));
}

TEST(Plan, FailureEndsAllAndSkipsTheRest) {
  const Pipeline pipeline = pipeline_of({{}, {}, {0}});
  PipelinePlan plan(pipeline, 5000);
  plan.begin(0);
  EXPECT_EQ(plan.ended(0, exit_with(3), 100), (Actions{{Kind::kTerminate, 1}}));
  EXPECT_EQ(plan.state(2), StageState::kSkipped);
  EXPECT_EQ(plan.culprit(), 0u);
  EXPECT_EQ(plan.deadline_ms(), 5100);
  EXPECT_EQ(plan.tick(5099), Actions{});
  EXPECT_EQ(plan.tick(5100), (Actions{{Kind::kKill, 1}}));
  EXPECT_EQ(plan.tick(5200), Actions{}) << "killed once";
  plan.ended(1, killed_by(9), 5101);
  EXPECT_TRUE(plan.done());
  EXPECT_EQ(plan.state(1), StageState::kStopped);
  EXPECT_EQ(plan.exit_code(), 1);
}

TEST(Plan, WhoFinishedBeforeTheRequestCameHasSucceeded) {
  const Pipeline pipeline = pipeline_of({{}, {}});
  PipelinePlan plan(pipeline, 5000);
  plan.begin(0);
  plan.ended(0, killed_by(11), 1);
  plan.ended(1, exit_with(0), 2);
  EXPECT_EQ(plan.state(1), StageState::kSucceeded);
  EXPECT_EQ(plan.exit_code(), 1);
}

TEST(Plan, CtrlCAsksOnceAndThenKills) {
  const Pipeline pipeline = pipeline_of({{}, {0}});
  PipelinePlan plan(pipeline, 5000);
  plan.begin(0);
  EXPECT_EQ(plan.end_all(EndReason::kInterrupted, 10), (Actions{{Kind::kTerminate, 0}}));
  EXPECT_EQ(plan.end_all(EndReason::kInterrupted, 20), (Actions{{Kind::kKill, 0}}));
  EXPECT_EQ(plan.ended(0, killed_by(9), 30), Actions{});
  EXPECT_TRUE(plan.done());
  EXPECT_EQ(plan.exit_code(), 130);
}

TEST(Plan, TheFirstReasonStays) {
  const Pipeline pipeline = pipeline_of({{}, {}});
  PipelinePlan plan(pipeline, 5000);
  plan.begin(0);
  plan.ended(0, exit_with(1), 1);
  plan.end_all(EndReason::kInterrupted, 2);
  EXPECT_EQ(plan.reason(), EndReason::kStageFailed);
  EXPECT_EQ(plan.exit_code(), 1);
}

TEST(Plan, TerminationHasItsOwnExitCode) {
  const Pipeline pipeline = pipeline_of({{}});
  PipelinePlan plan(pipeline, 5000);
  plan.begin(0);
  plan.end_all(EndReason::kTerminated, 1);
  plan.ended(0, killed_by(15), 2);
  EXPECT_EQ(plan.exit_code(), 143);
}

/// Any acyclic pipeline, any order of ends, any failures: nothing starts too early or twice, nothing hangs.
TEST(Plan, HoldsItsRulesForAnyPipelineAndAnyOrderOfEnds) {
  EXPECT_TRUE(rc::check([] {
    const auto count = *rc::gen::inRange<size_t>(1, 12);
    std::vector<std::vector<size_t>> depends(count);
    for (size_t i = 1; i < count; ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (*rc::gen::weightedElement<bool>({{1, true}, {2, false}})) depends[i].push_back(j);
      }
    }
    const Pipeline pipeline = pipeline_of(depends);
    PipelinePlan plan(pipeline, 100);
    std::vector<size_t> alive;
    std::vector<int> starts(count, 0);
    bool over = false;
    const auto obey = [&](const Actions& actions) {
      for (const PlanAction& action : actions) {
        if (action.kind != Kind::kStart) {
          over = true;
          RC_ASSERT(std::find(alive.begin(), alive.end(), action.stage) != alive.end());
          continue;
        }
        RC_ASSERT(!over);
        RC_ASSERT(++starts[action.stage] == 1);
        for (const size_t needed : depends[action.stage])
          RC_ASSERT(plan.state(needed) == StageState::kSucceeded);
        alive.push_back(action.stage);
      }
    };
    int64_t now_ms = 0;
    bool failed = false;
    obey(plan.begin(now_ms));
    while (!alive.empty()) {
      const auto at = *rc::gen::inRange<size_t>(0, alive.size());
      const size_t stage = alive[at];
      alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(at));
      const bool well = *rc::gen::weightedElement<bool>({{5, true}, {1, false}});
      const bool asked = plan.state(stage) == StageState::kStopping;
      failed = failed || (!well && !asked);
      obey(plan.ended(stage, well ? exit_with(0) : exit_with(1), ++now_ms));
      if (*rc::gen::weightedElement<bool>({{1, true}, {9, false}})) obey(plan.tick(now_ms += 1000));
    }
    RC_ASSERT(plan.done());
    RC_ASSERT(plan.exit_code() == (failed ? 1 : 0));
    if (!failed) RC_ASSERT(std::all_of(starts.begin(), starts.end(), [](int n) { return n == 1; }));
  }));
}

}  // namespace
}  // namespace warpool::cli
