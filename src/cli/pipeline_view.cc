// SPDX-License-Identifier: Apache-2.0
#include "cli/pipeline_view.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/system_text.h"
#include "cli/units.h"

namespace warpool::cli {
namespace {

std::string command_text(const Stage& stage) {
  if (stage.command.size() == 3 && stage.command[0] == "/bin/sh" && stage.command[1] == "-c")
    return stage.command[2];
  return fmt::format("{}", fmt::join(stage.command, " "));
}

std::vector<std::string> names_of(const Pipeline& pipeline, const std::vector<size_t>& indices) {
  std::vector<std::string> names;
  names.reserve(indices.size());
  for (const size_t index : indices)
    names.push_back(pipeline.stages[index].name);
  return names;
}

Colour status_colour(StageState state) {
  switch (state) {
    case StageState::kSucceeded:
      return Colour::kGreen;
    case StageState::kFailed:
      return Colour::kRed;
    default:
      return Colour::kYellow;
  }
}

const char* reason_name(EndReason reason) {
  switch (reason) {
    case EndReason::kNone:
      return "ok";
    case EndReason::kStageFailed:
      return "stage_failed";
    case EndReason::kInterrupted:
      return "interrupted";
    case EndReason::kTerminated:
      return "terminated";
    case EndReason::kOutputClosed:
      return "output_closed";
  }
  return "unknown";
}

std::string end_text(const PipelineReport& report) {
  const std::string time = format_duration_ms(static_cast<uint64_t>(report.elapsed_ms));
  switch (report.reason) {
    case EndReason::kNone:
      return fmt::format("All stages ended well in {}.", time);
    case EndReason::kStageFailed:
      return fmt::format("A stage failed, so all were ended after {}.", time);
    case EndReason::kInterrupted:
      return fmt::format("Interrupted after {}.", time);
    default:
      return fmt::format("Ended from outside after {}.", time);
  }
}

bool was_started(const StageReport& stage) {
  return stage.state != StageState::kSkipped && !stage.end.could_not_start;
}

nlohmann::json stage_json(const Stage& stage, const StageReport& report, const RunTotals& totals) {
  nlohmann::json json = totals_json(totals);
  json["name"] = stage.name;
  json["label"] = stage.label;
  json["status"] = stage_state_name(report.state);
  json["exit_status"] = nullptr;
  json["signal"] = nullptr;
  if (was_started(report)) {
    if (report.end.signal_number != 0) {
      json["signal"] = report.end.signal_number;
    } else {
      json["exit_status"] = report.end.exit_status;
    }
  }
  if (!report.trouble.empty()) json["message"] = report.trouble;
  json["elapsed_ms"] = report.elapsed_ms;
  json["peak_memory_bytes"] = report.peak_bytes;
  return json;
}

}  // namespace

std::string plan_text(const Pipeline& pipeline, const Output& output) {
  Table table({{"WAVE", Table::Align::kRight}, {"STAGE"}, {"AFTER"}, {"FOLDER"}, {"COMMAND"}});
  const auto waves = waves_of(pipeline);
  for (size_t wave = 0; wave < waves.size(); ++wave) {
    for (const size_t index : waves[wave]) {
      const Stage& stage = pipeline.stages[index];
      table.add_row({fmt::format("{}", wave + 1), stage.name,
                     fmt::format("{}", fmt::join(names_of(pipeline, stage.depends), ", ")),
                     printable(stage.dir), printable(command_text(stage))});
    }
  }
  return table.render(output);
}

nlohmann::json plan_json(const Pipeline& pipeline) {
  nlohmann::json stages = nlohmann::json::array();
  const auto waves = waves_of(pipeline);
  for (size_t wave = 0; wave < waves.size(); ++wave) {
    for (const size_t index : waves[wave]) {
      const Stage& stage = pipeline.stages[index];
      stages.push_back({{"name", stage.name},
                        {"label", stage.label},
                        {"wave", wave + 1},
                        {"command", stage.command},
                        {"env", stage.env},
                        {"dir", stage.dir},
                        {"depends", names_of(pipeline, stage.depends)}});
    }
  }
  return {{"stages", stages}};
}

std::string status_text(const StageReport& stage) {
  const std::string name = stage_state_name(stage.state);
  if (stage.state != StageState::kFailed) return name;
  if (stage.end.could_not_start) return name + " (could not start)";
  if (stage.end.signal_number != 0)
    return fmt::format("{} (signal {}, {})", name, stage.end.signal_number,
                       signal_text(stage.end.signal_number));
  return fmt::format("{} (exit status {})", name, stage.end.exit_status);
}

std::string summary_text(const Pipeline& pipeline, const PipelineReport& report,
                         const std::vector<RunTotals>& totals, const Output& output) {
  using enum Table::Align;
  Table table({{"STAGE"},
               {"STATUS"},
               {"TIME", kRight},
               {"MEMORY", kRight},
               {"PUBLISHED", kRight},
               {"SHARED", kRight},
               {"COPIED"}});
  for (size_t i = 0; i < pipeline.stages.size(); ++i) {
    const StageReport& stage = report.stages[i];
    const bool started = was_started(stage);
    const bool known = started && totals[i].unknown.empty();
    table.add_row({pipeline.stages[i].name,
                   {status_text(stage), status_colour(stage.state)},
                   started ? format_duration_ms(static_cast<uint64_t>(stage.elapsed_ms)) : "-",
                   started ? format_bytes(stage.peak_bytes) : "-",
                   known ? format_bytes(totals[i].bytes_published) : "-",
                   known ? format_bytes(totals[i].bytes_shared) : "-",
                   !started ? "-"
                   : known  ? copied_text(totals[i])
                            : "unknown: " + totals[i].unknown});
  }
  return table.render(output) + end_text(report) + "\n";
}

nlohmann::json summary_json(const Pipeline& pipeline, const PipelineReport& report,
                            const std::vector<RunTotals>& totals) {
  nlohmann::json stages = nlohmann::json::array();
  for (size_t i = 0; i < pipeline.stages.size(); ++i)
    stages.push_back(stage_json(pipeline.stages[i], report.stages[i], totals[i]));
  return {{"stages", stages},
          {"ended_by", reason_name(report.reason)},
          {"exit_code", report.exit_code},
          {"elapsed_ms", report.elapsed_ms}};
}

}  // namespace warpool::cli
