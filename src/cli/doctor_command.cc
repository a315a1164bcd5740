// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/command_set.h"
#include "cli/doctor.h"
#include "cli/exit_codes.h"

namespace warpool::cli {
namespace {

struct DoctorOptions {
  CommonOptions common;
  DoctorQuestions questions;
};

Colour verdict_colour(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return Colour::kGreen;
    case Verdict::kNote:
      return Colour::kBlue;
    case Verdict::kWarning:
      return Colour::kYellow;
    case Verdict::kFailed:
      return Colour::kRed;
  }
  return Colour::kNone;
}

std::string findings_text(const std::vector<Finding>& findings, const Output& output) {
  size_t width = 0;
  for (const Finding& finding : findings)
    width = std::max(width, finding.check.size());
  std::string text;
  for (const Finding& finding : findings) {
    const std::string verdict = output.paint(verdict_colour(finding.verdict),
                                             fmt::format("{:<7}", verdict_name(finding.verdict)));
    text += fmt::format("{}  {:<{}}  {}\n", verdict, finding.check, width, printable(finding.what));
    if (!finding.remedy.empty())
      text += fmt::format("{}{}\n", std::string(width + 11, ' '),
                          output.paint(Colour::kDim, "-> " + printable(finding.remedy)));
  }
  return text;
}

nlohmann::json findings_json(const std::vector<Finding>& findings) {
  nlohmann::json checks = nlohmann::json::array();
  for (const Finding& finding : findings)
    checks.push_back({{"check", finding.check},
                      {"verdict", verdict_name(finding.verdict)},
                      {"what", finding.what},
                      {"remedy", finding.remedy}});
  return {{"works", essentials_work(findings)}, {"checks", checks}};
}

int examine(const DoctorOptions& options, Context& context) {
  std::vector<Finding> findings;
  check_system(findings);
  check_broker(options.questions, findings);
  check_languages(options.questions, findings);
  check_container(options.questions, findings);
  check_gpu(findings);
  const bool works = essentials_work(findings);
  if (options.common.json) {
    context.out.json(findings_json(findings));
  } else {
    context.out.write(findings_text(findings, context.out));
    context.out.line(works ? "Sharing arrays works here."
                           : "Sharing arrays does not work here: see the lines marked failed.");
  }
  return works ? 0 : static_cast<int>(ExitCode::kFailed);
}

}  // namespace

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kNote:
      return "note";
    case Verdict::kWarning:
      return "warning";
    case Verdict::kFailed:
      return "failed";
  }
  return "unknown";
}

bool essentials_work(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.verdict == Verdict::kFailed; });
}

void add_doctor_command(CommandSet& set) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App& command = set.add(
      "doctor",
      "Try what Warpool needs on this machine, and say for each thing that does not work what to "
      "do. Nothing "
      "stays behind. Exit code 0 if sharing arrays works, 1 if not.",
      {{"warpool doctor", "look at this machine"},
       {"warpool doctor --python .venv/bin/python", "with the Python of a virtual environment"},
       {"warpool doctor --json", "for a bug report"}});
  command.add_option("--python", options->questions.python, "Python to try (default: python3)")
      ->type_name(kFileArgument);
  command.add_option("--octave", options->questions.octave, "Octave to try (default: octave-cli)")
      ->type_name(kFileArgument);
  set.share(command, options->common);
  set.on_run(command, options->common, [options](Context& context) {
    options->questions.socket = options->common.socket;
    return examine(*options, context);
  });
}

}  // namespace warpool::cli
