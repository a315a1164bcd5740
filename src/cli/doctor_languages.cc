// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <sstream>

#include "cli/doctor.h"
#include "cli/process.h"

namespace warpool::cli {
namespace {

/// Octave on a cold disk takes some seconds; one that hangs must not hang the doctor.
constexpr int64_t kLanguagePatienceMs = 30'000;

constexpr const char* kPythonQuestion = R"(
import sys
print("python", sys.version.split()[0])
for name in ("numpy", "warpool"):
    try:
        module = __import__(name)
        print(name, getattr(module, "__version__", "of unknown version"))
    except Exception as error:
        print(name + "-missing", str(error).replace("\n", " "))
)";

constexpr const char* kOctaveQuestion = R"(
printf("octave %s\n", version ());
try, pkg ("load", "warpool"); catch, end
try
  facts = warpool.version ();
  printf ("warpool %s\n", facts.warpool);
  printf ("gateway %s\n", facts.gateway);
catch err
  printf ("warpool-missing %s\n", strrep (err.message, "\n", " "));
end
)";

/// The value behind a key at the start of a line, if there is one.
bool find_value(const std::string& output, const std::string& key, std::string& value) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + " ")) {
      value = line.substr(key.size() + 1);
      return true;
    }
  }
  return false;
}

Finding not_found(const char* check, const std::string& program, const char* language,
                  const Captured& captured) {
  if (!captured.started)
    return {check, Verdict::kNote,
            fmt::format("{} is not installed ({} was not found)", language, program),
            fmt::format("nothing to do unless you use {}; else install it, or name it with --{}",
                        language, check)};
  const std::string why = captured.timed_out ? "it gave no answer in time"
                                             : fmt::format("exit status {}", captured.exit_code);
  return {check, Verdict::kWarning,
          fmt::format("{} could not be asked ({}: {})", language, program, why),
          fmt::format("run `{}` by hand and see what it says", program)};
}

bool answered(const Captured& captured) {
  return captured.started && !captured.timed_out && captured.exit_code == 0;
}

}  // namespace

std::vector<Finding> judge_python(const std::string& program, const std::string& output) {
  std::string python, numpy, package, missing;
  find_value(output, "python", python);
  std::vector<Finding> findings;
  if (find_value(output, "numpy", numpy)) {
    findings.push_back({"python", Verdict::kOk,
                        fmt::format("Python {} with NumPy {} ({})", python, numpy, program), ""});
  } else {
    findings.push_back({"python", Verdict::kWarning,
                        fmt::format("Python {} has no NumPy ({})", python, program),
                        fmt::format("`{} -m pip install numpy`", program)});
  }
  if (find_value(output, "warpool", package)) {
    findings.push_back({"python-package", Verdict::kOk,
                        fmt::format("the package warpool {} can be imported", package), ""});
  } else {
    find_value(output, "warpool-missing", missing);
    findings.push_back(
        {"python-package", Verdict::kWarning,
         fmt::format("the Python package warpool cannot be imported: {}", missing),
         fmt::format("install it for this Python ({}), or name another Python with --python",
                     program)});
  }
  return findings;
}

std::vector<Finding> judge_octave(const std::string& program, const std::string& output) {
  std::string octave, package, gateway, missing;
  find_value(output, "octave", octave);
  std::vector<Finding> findings{
      {"octave", Verdict::kOk, fmt::format("GNU Octave {} ({})", octave, program), ""}};
  if (find_value(output, "warpool", package)) {
    find_value(output, "gateway", gateway);
    findings.push_back(
        {"octave-package", Verdict::kOk,
         fmt::format("the package warpool {} works{}", package,
                     gateway.empty() ? "" : fmt::format(" through its {} gateway", gateway)),
         ""});
  } else {
    find_value(output, "warpool-missing", missing);
    findings.push_back({"octave-package", Verdict::kWarning,
                        fmt::format("the Octave package warpool does not work: {}", missing),
                        "install it with `pkg install` or put its folder on OCTAVE_PATH"});
  }
  return findings;
}

void check_languages(const DoctorQuestions& questions, std::vector<Finding>& findings) {
  const Captured python = capture({questions.python, "-c", kPythonQuestion}, kLanguagePatienceMs);
  if (answered(python)) {
    for (Finding& finding : judge_python(questions.python, python.output))
      findings.push_back(std::move(finding));
  } else {
    findings.push_back(not_found("python", questions.python, "Python", python));
  }
  const Captured octave =
      capture({questions.octave, "--quiet", "--no-history", "--eval", kOctaveQuestion},
              kLanguagePatienceMs);
  if (answered(octave)) {
    for (Finding& finding : judge_octave(questions.octave, octave.output))
      findings.push_back(std::move(finding));
  } else {
    findings.push_back(not_found("octave", questions.octave, "GNU Octave", octave));
  }
}

}  // namespace warpool::cli
