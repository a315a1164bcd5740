// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/pipeline.h"

namespace warpool::cli {

/**
 * What becomes of a stage.
 *
 *   waiting --start--> running --ended well--> succeeded
 *      |                  |----ended badly---> failed
 *      |                  '----end all-------> stopping --ended--> stopped
 *      '--end all--> skipped
 */
enum class StageState : uint8_t {
  kWaiting,
  kRunning,
  kStopping,
  kSucceeded,
  kFailed,
  kStopped,
  kSkipped
};
const char* stage_state_name(StageState state);

/// How a process ended.
struct ProcessEnd {
  int exit_status = 0;    ///< of an ordinary end
  int signal_number = 0;  ///< of the signal that ended it; 0: ordinary end
  bool could_not_start = false;
  bool well() const { return exit_status == 0 && signal_number == 0 && !could_not_start; }
};

/// What the runner has to do.
struct PlanAction {
  enum class Kind : uint8_t { kStart, kTerminate, kKill };
  Kind kind;
  size_t stage;
  bool operator==(const PlanAction&) const = default;
};

/// Why everything was ended.
enum class EndReason : uint8_t { kNone, kStageFailed, kInterrupted, kTerminated, kOutputClosed };

/**
 * Decides about the stages of a pipeline: (state, event, now) -> (state, actions). No process, clock or output inside; the runner
 * carries the actions out and reports what happens.
 */
class PipelinePlan {
 public:
  PipelinePlan(const Pipeline& pipeline, int64_t grace_ms);

  /// The stages to start at once.
  std::vector<PlanAction> begin(int64_t now_ms);
  /// A started stage has ended.
  std::vector<PlanAction> ended(size_t stage, ProcessEnd end, int64_t now_ms);
  /// Ends all: SIGTERM now, SIGKILL after the grace. Asked a second time it kills at once.
  std::vector<PlanAction> end_all(EndReason reason, int64_t now_ms);
  /// Time has passed.
  std::vector<PlanAction> tick(int64_t now_ms);

  /// When tick has something to do, if ever.
  std::optional<int64_t> deadline_ms() const { return deadline_ms_; }
  bool done() const;
  StageState state(size_t stage) const { return progress_[stage].state; }
  const ProcessEnd& end(size_t stage) const { return progress_[stage].end; }
  int64_t started_ms(size_t stage) const { return progress_[stage].started_ms; }
  int64_t ended_ms(size_t stage) const { return progress_[stage].ended_ms; }
  EndReason reason() const { return reason_; }
  /// The stage whose failure ended all.
  std::optional<size_t> culprit() const { return culprit_; }
  /// What the command returns: 0 if all stages ended well.
  int exit_code() const;

 private:
  struct Progress {
    StageState state = StageState::kWaiting;
    ProcessEnd end;
    int64_t started_ms = 0;
    int64_t ended_ms = 0;
  };

  std::vector<PlanAction> start_ready(int64_t now_ms);
  std::vector<PlanAction> kill_stopping() const;
  bool ready(size_t stage) const;

  const Pipeline& pipeline_;
  int64_t grace_ms_;
  std::vector<Progress> progress_;
  EndReason reason_ = EndReason::kNone;
  std::optional<size_t> culprit_;
  std::optional<int64_t> deadline_ms_;
};

}  // namespace warpool::cli
