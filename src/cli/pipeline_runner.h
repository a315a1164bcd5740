// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/pipeline.h"
#include "cli/pipeline_plan.h"

namespace warpool::cli {

struct RunnerOptions {
  int64_t grace_ms = 5000;
  std::string socket_path;           ///< given to the stages as WARPOOL_SOCKET
  std::vector<std::string> run_ids;  ///< one a stage: WARPOOL_RUN
};

/// What became of one stage.
struct StageReport {
  StageState state = StageState::kSkipped;
  ProcessEnd end;
  std::string trouble;  ///< why it could not be started
  int64_t elapsed_ms = 0;
  uint64_t peak_bytes = 0;  ///< the largest of its processes
};

struct PipelineReport {
  std::vector<StageReport> stages;
  EndReason reason = EndReason::kNone;
  int exit_code = 0;
  int64_t elapsed_ms = 0;
};

/**
 * Runs a pipeline to its end in this process, which must have no other children and one thread. What the stages write goes to `out` and
 * `err` line by line with the coloured name of the stage. SIGINT, SIGTERM and SIGHUP end all stages; a second one kills them.
 */
PipelineReport run_pipeline(const Pipeline& pipeline, const RunnerOptions& options,
                            const Output& out, const Output& err);

}  // namespace warpool::cli
