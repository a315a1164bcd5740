// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/pipeline.h"
#include "cli/pipeline_runner.h"
#include "cli/run_totals.h"

namespace warpool::cli {

// How a pipeline and its end are shown. Pure functions.

/// What would start when.
std::string plan_text(const Pipeline& pipeline, const Output& output);
nlohmann::json plan_json(const Pipeline& pipeline);

/// A line a stage: status, time, memory, bytes shared, copies. `totals` has one entry a stage.
std::string summary_text(const Pipeline& pipeline, const PipelineReport& report,
                         const std::vector<RunTotals>& totals, const Output& output);
nlohmann::json summary_json(const Pipeline& pipeline, const PipelineReport& report,
                            const std::vector<RunTotals>& totals);

/// "ok", "failed (exit status 3)", "stopped", "skipped", "failed (could not start)".
std::string status_text(const StageReport& stage);

}  // namespace warpool::cli
