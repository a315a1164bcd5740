// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/command_set.h"
#include "cli/exit_codes.h"
#include "cli/pipeline.h"
#include "cli/pipeline_runner.h"
#include "cli/pipeline_view.h"
#include "cli/process.h"
#include "cli/units.h"

namespace warpool::cli {
namespace {

struct PipelineOptions {
  CommonOptions common;
  std::string file;
  std::string grace = "5s";
  bool dry_run = false;
};

int show_plan(const PipelineOptions& options, const Pipeline& pipeline, const Context& context) {
  if (options.common.json) {
    context.out.json(plan_json(pipeline));
  } else {
    context.out.write(plan_text(pipeline, context.out));
  }
  return 0;
}

int run_pipeline_file(const PipelineOptions& options, Context& context) {
  const int64_t grace_ms = parse_duration_ms(options.grace);
  const Pipeline pipeline = read_pipeline(options.file);
  if (options.dry_run) return show_plan(options, pipeline, context);
  // The connection stays open until the sessions of the stages were asked for.
  const auto connection = connect(options.common.socket, StartBroker::kIfNeeded);
  RunnerOptions runner;
  runner.grace_ms = grace_ms;
  runner.socket_path = broker_info(connection.get()).socket_path;
  for (size_t i = 0; i < pipeline.stages.size(); ++i)
    runner.run_ids.push_back(random_id());
  // With --json standard output holds the summary and nothing else.
  const PipelineReport report =
      run_pipeline(pipeline, runner, options.common.json ? context.err : context.out, context.err);
  std::vector<RunTotals> totals;
  for (const std::string& run : runner.run_ids)
    totals.push_back(totals_of_run(connection.get(), run));
  if (report.exit_code == static_cast<int>(ExitCode::kOutputClosed)) return report.exit_code;
  if (options.common.json) {
    context.out.json(summary_json(pipeline, report, totals));
  } else {
    context.err.write("\n" + summary_text(pipeline, report, totals, context.err));
  }
  return report.exit_code;
}

}  // namespace

void add_pipeline_command(CommandSet& set) {
  auto options = std::make_shared<PipelineOptions>();
  CLI::App& command = set.add(
      "pipeline",
      "Run the programs of a pipeline file together. Each line of their output carries the name of "
      "its stage; when one "
      "fails, or with Ctrl-C, all are ended; a summary per stage follows.",
      {{"warpool pipeline digits.toml", "run it"},
       {"warpool pipeline digits.toml --dry-run", "check it and show what would start when"},
       {"warpool pipeline digits.toml --json > summary.json",
        "the summary for a script; output goes to standard error"}});
  command
      .add_option("FILE", options->file, "Pipeline file (TOML); see the guide page on pipelines")
      ->required()
      ->type_name(kFileArgument);
  command.add_flag("--dry-run", options->dry_run, "Only check the file and show the plan");
  command
      .add_option("--grace", options->grace,
                  "Time between SIGTERM and SIGKILL when stages are ended (default: 5s)")
      ->type_name(kDurationArgument);
  set.share(command, options->common);
  set.on_run(command, options->common,
             [options](Context& context) { return run_pipeline_file(*options, context); });
}

}  // namespace warpool::cli
