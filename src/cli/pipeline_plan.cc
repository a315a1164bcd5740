// SPDX-License-Identifier: Apache-2.0
#include "cli/pipeline_plan.h"

#include <algorithm>

#include "cli/exit_codes.h"

namespace warpool::cli {

const char* stage_state_name(StageState state) {
  switch (state) {
    case StageState::kWaiting:
      return "waiting";
    case StageState::kRunning:
      return "running";
    case StageState::kStopping:
      return "stopping";
    case StageState::kSucceeded:
      return "ok";
    case StageState::kFailed:
      return "failed";
    case StageState::kStopped:
      return "stopped";
    case StageState::kSkipped:
      return "skipped";
  }
  return "unknown";
}

PipelinePlan::PipelinePlan(const Pipeline& pipeline, int64_t grace_ms)
    : pipeline_(pipeline), grace_ms_(grace_ms), progress_(pipeline.stages.size()) {}

bool PipelinePlan::ready(size_t stage) const {
  const auto& needs = pipeline_.stages[stage].depends;
  return progress_[stage].state == StageState::kWaiting &&
         std::all_of(needs.begin(), needs.end(), [&](size_t needed) {
           return progress_[needed].state == StageState::kSucceeded;
         });
}

std::vector<PlanAction> PipelinePlan::start_ready(int64_t now_ms) {
  std::vector<PlanAction> actions;
  for (size_t i = 0; i < progress_.size(); ++i) {
    if (!ready(i)) continue;
    progress_[i].state = StageState::kRunning;
    progress_[i].started_ms = now_ms;
    actions.push_back({PlanAction::Kind::kStart, i});
  }
  return actions;
}

std::vector<PlanAction> PipelinePlan::begin(int64_t now_ms) {
  return start_ready(now_ms);
}

std::vector<PlanAction> PipelinePlan::ended(size_t stage, ProcessEnd end, int64_t now_ms) {
  Progress& progress = progress_[stage];
  const bool was_asked = progress.state == StageState::kStopping;
  progress.end = end;
  progress.ended_ms = now_ms;
  if (was_asked) {
    // A stage that finished its work before the request reached it has still succeeded.
    progress.state = end.well() ? StageState::kSucceeded : StageState::kStopped;
    return {};
  }
  if (end.well()) {
    progress.state = StageState::kSucceeded;
    return reason_ == EndReason::kNone ? start_ready(now_ms) : std::vector<PlanAction>{};
  }
  progress.state = StageState::kFailed;
  if (reason_ != EndReason::kNone) return {};
  culprit_ = stage;
  return end_all(EndReason::kStageFailed, now_ms);
}

std::vector<PlanAction> PipelinePlan::end_all(EndReason reason, int64_t now_ms) {
  const bool again = reason_ != EndReason::kNone;
  // The first reason is the one that people want to read; a Ctrl-C during the end only makes it faster.
  if (!again) reason_ = reason;
  std::vector<PlanAction> actions;
  for (size_t i = 0; i < progress_.size(); ++i) {
    Progress& progress = progress_[i];
    if (progress.state == StageState::kWaiting) progress.state = StageState::kSkipped;
    if (progress.state != StageState::kRunning) continue;
    progress.state = StageState::kStopping;
    actions.push_back({PlanAction::Kind::kTerminate, i});
  }
  if (again) {
    deadline_ms_.reset();
    return kill_stopping();
  }
  if (!actions.empty()) deadline_ms_ = now_ms + grace_ms_;
  return actions;
}

std::vector<PlanAction> PipelinePlan::kill_stopping() const {
  std::vector<PlanAction> actions;
  for (size_t i = 0; i < progress_.size(); ++i) {
    if (progress_[i].state == StageState::kStopping)
      actions.push_back({PlanAction::Kind::kKill, i});
  }
  return actions;
}

std::vector<PlanAction> PipelinePlan::tick(int64_t now_ms) {
  if (!deadline_ms_ || now_ms < *deadline_ms_) return {};
  deadline_ms_.reset();
  return kill_stopping();
}

bool PipelinePlan::done() const {
  return std::none_of(progress_.begin(), progress_.end(), [](const Progress& progress) {
    return progress.state == StageState::kWaiting || progress.state == StageState::kRunning ||
           progress.state == StageState::kStopping;
  });
}

int PipelinePlan::exit_code() const {
  switch (reason_) {
    case EndReason::kNone:
      return static_cast<int>(ExitCode::kOk);
    case EndReason::kStageFailed:
      return static_cast<int>(ExitCode::kFailed);
    case EndReason::kInterrupted:
      return static_cast<int>(ExitCode::kInterrupted);
    case EndReason::kTerminated:
      return exit_code_of_signal(15);
    case EndReason::kOutputClosed:
      return static_cast<int>(ExitCode::kOutputClosed);
  }
  return static_cast<int>(ExitCode::kFailed);
}

}  // namespace warpool::cli
