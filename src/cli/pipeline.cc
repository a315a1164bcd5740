// SPDX-License-Identifier: Apache-2.0
#include "cli/pipeline.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "cli/failure.h"
#include "cli/system_text.h"
#include "cli/units.h"
#include "os/fd.h"

namespace warpool::cli {
namespace {

constexpr std::array<std::string_view, 6> kStageKeys = {"name",  "command", "env",
                                                        "label", "depends", "dir"};
constexpr std::array<std::string_view, 3> kOwnVariables = {"WARPOOL_RUN", "WARPOOL_LABEL",
                                                           "WARPOOL_SOCKET"};
constexpr std::array<std::string_view, 1> kTopKeys = {"stage"};

/// Collects mistakes, so that the user sees all of them at once and not one a run.
class Mistakes {
 public:
  explicit Mistakes(std::string path) : path_(std::move(path)) {}

  void add(const toml::source_region& where, std::string_view message) {
    lines_.push_back(
        fmt::format("{}:{}:{}: {}", path_, where.begin.line, where.begin.column, message));
  }
  void add(std::string_view message) { lines_.push_back(fmt::format("{}: {}", path_, message)); }
  void throw_if_any() const {
    if (!lines_.empty())
      throw Failure(ExitCode::kUsage, fmt::format("{}", fmt::join(lines_, "\n")));
  }

 private:
  std::string path_;
  std::vector<std::string> lines_;
};

/// A stage as written, with the places that later messages point at.
struct WrittenStage {
  Stage stage;
  toml::source_region where;
  std::vector<std::pair<std::string, toml::source_region>> depends;
};

class Reader {
 public:
  explicit Reader(const std::string& path)
      : mistakes_(path), folder_(std::filesystem::path(path).parent_path()) {}

  Pipeline read(const toml::table& root) {
    check_keys(root, kTopKeys, "the file");
    read_stages(root);
    mistakes_.throw_if_any();
    check_names();
    resolve_depends();
    mistakes_.throw_if_any();
    check_cycles();
    mistakes_.throw_if_any();
    Pipeline pipeline;
    pipeline.stages.reserve(stages_.size());
    for (WrittenStage& written : stages_)
      pipeline.stages.push_back(std::move(written.stage));
    return pipeline;
  }

 private:
  template <typename Keys>
  void check_keys(const toml::table& table, const Keys& known, std::string_view where) {
    for (const auto& [key, value] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      const auto near = nearest_word(key.str(), known);
      const std::string hint = near ? fmt::format("; did you mean \"{}\"?", *near)
                                    : fmt::format("; known keys: {}", fmt::join(known, ", "));
      mistakes_.add(key.source(),
                    fmt::format("unknown key \"{}\" in {}{}", key.str(), where, hint));
    }
  }

  void read_stages(const toml::table& root) {
    const toml::node* node = root.get("stage");
    const toml::array* list = node ? node->as_array() : nullptr;
    if (node != nullptr && list == nullptr) {
      mistakes_.add(node->source(),
                    "\"stage\" must be a list of tables; write [[stage]] with two brackets");
      return;
    }
    if (list == nullptr || list->empty()) {
      mistakes_.add("there is no stage; begin one with [[stage]] and give it a name and a command");
      return;
    }
    if (list->size() > kMaxStages) {
      mistakes_.add(list->source(),
                    fmt::format("{} stages are more than {}", list->size(), kMaxStages));
      return;
    }
    for (const toml::node& entry : *list) {
      if (const toml::table* table = entry.as_table()) {
        read_stage(*table);
      } else {
        mistakes_.add(entry.source(), "each stage must be a table; write [[stage]]");
      }
    }
  }

  void read_stage(const toml::table& table) {
    WrittenStage written;
    written.where = table.source();
    Stage& stage = written.stage;
    stage.name = text_of(table, "name").value_or("");
    const std::string which =
        stage.name.empty() ? "this stage" : fmt::format("stage \"{}\"", stage.name);
    check_keys(table, kStageKeys, which);
    if (!table.contains("name"))
      mistakes_.add(table.source(), "this stage has no name; add name = \"...\"");
    read_command(table, which, stage);
    read_env(table, which, stage);
    stage.label = text_of(table, "label").value_or(stage.name);
    const std::filesystem::path dir = folder_ / text_of(table, "dir").value_or("");
    stage.dir = dir.empty() ? "." : dir.lexically_normal().string();
    read_depends(table, which, written);
    stages_.push_back(std::move(written));
  }

  std::optional<std::string> text_of(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::nullopt;
    const auto* text = node->as_string();
    if (text == nullptr) {
      mistakes_.add(node->source(), fmt::format("\"{}\" must be a string, such as \"...\"", key));
      return std::nullopt;
    }
    // The operating system ends words at a NUL: what comes after it would be lost without a word.
    if (text->get().find('\0') != std::string::npos) {
      mistakes_.add(node->source(), fmt::format("\"{}\" contains a NUL character", key));
      return std::nullopt;
    }
    return text->get();
  }

  void read_command(const toml::table& table, const std::string& which, Stage& stage) {
    const toml::node* node = table.get("command");
    if (node == nullptr) {
      mistakes_.add(
          table.source(),
          fmt::format("{} has no command; add command = \"...\" or a list of words", which));
      return;
    }
    if (node->is_string()) {
      const auto text = text_of(table, "command");
      if (text && text->find_first_not_of(" \t\n") == std::string::npos)
        mistakes_.add(node->source(), fmt::format("the command of {} is empty", which));
      stage.command = {"/bin/sh", "-c", text.value_or("")};
      return;
    }
    if (!read_words(*node, stage.command))
      mistakes_.add(
          node->source(),
          fmt::format("the command of {} must be a string (run by sh) or a list of strings",
                      which));
    else if (stage.command.empty() || stage.command[0].empty())
      mistakes_.add(node->source(), fmt::format("the command of {} is empty", which));
  }

  static bool read_words(const toml::node& node, std::vector<std::string>& words) {
    const toml::array* list = node.as_array();
    if (list == nullptr) return false;
    for (const toml::node& entry : *list) {
      const auto* word = entry.as_string();
      if (word == nullptr || word->get().find('\0') != std::string::npos) return false;
      words.push_back(word->get());
    }
    return true;
  }

  void read_env(const toml::table& table, const std::string& which, Stage& stage) {
    const toml::node* node = table.get("env");
    if (node == nullptr) return;
    const toml::table* env = node->as_table();
    if (env == nullptr) {
      mistakes_.add(
          node->source(),
          fmt::format("\"env\" of {} must be a table, such as {{ THREADS = \"2\" }}", which));
      return;
    }
    for (const auto& [key, value] : *env) {
      if (const auto text = text_of(*env, key.str())) stage.env[std::string(key.str())] = *text;
      if (std::find(kOwnVariables.begin(), kOwnVariables.end(), key.str()) != kOwnVariables.end())
        mistakes_.add(
            key.source(),
            fmt::format(
                "{} is set by the pipeline itself; take it out (a label is set with label = "
                "\"...\", the socket with --socket)",
                key.str()));
      if (key.empty() || key.str().find('=') != std::string_view::npos)
        mistakes_.add(key.source(),
                      fmt::format("\"{}\" is no name of an environment variable", key.str()));
    }
  }

  void read_depends(const toml::table& table, const std::string& which, WrittenStage& written) {
    const toml::node* node = table.get("depends");
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    if (list == nullptr) {
      mistakes_.add(
          node->source(),
          fmt::format("\"depends\" of {} must be a list of names, such as [\"prepare\"]", which));
      return;
    }
    for (const toml::node& entry : *list) {
      if (const auto* name = entry.as_string()) {
        written.depends.emplace_back(name->get(), entry.source());
      } else {
        mistakes_.add(entry.source(),
                      fmt::format("\"depends\" of {} must hold names of stages as strings", which));
      }
    }
  }

  void check_names() {
    for (size_t i = 0; i < stages_.size(); ++i) {
      const std::string& name = stages_[i].stage.name;
      const bool valid = !name.empty() && name.size() <= kMaxStageName &&
                         std::all_of(name.begin(), name.end(), [](unsigned char c) {
                           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
                         });
      if (!valid)
        mistakes_.add(
            stages_[i].where,
            fmt::format("\"{}\" is no name for a stage: use 1 to {} letters, digits, _ - or .",
                        name, kMaxStageName));
      const size_t first = index_of(name);
      if (first < i)
        mistakes_.add(
            stages_[i].where,
            fmt::format("the name \"{}\" is taken by the stage of line {}; choose another", name,
                        stages_[first].where.begin.line));
    }
  }

  size_t index_of(std::string_view name) const {
    const auto found =
        std::find_if(stages_.begin(), stages_.end(),
                     [&](const WrittenStage& written) { return written.stage.name == name; });
    return static_cast<size_t>(found - stages_.begin());
  }

  void resolve_depends() {
    for (WrittenStage& written : stages_) {
      for (const auto& [name, where] : written.depends) {
        const size_t index = index_of(name);
        if (index == stages_.size()) {
          mistakes_.add(where, unknown_stage(written.stage.name, name));
        } else if (std::count(written.stage.depends.begin(), written.stage.depends.end(), index) ==
                   0) {
          written.stage.depends.push_back(index);
        }
      }
    }
  }

  std::string unknown_stage(const std::string& stage, const std::string& name) const {
    std::vector<std::string> names;
    names.reserve(stages_.size());
    for (const WrittenStage& written : stages_)
      names.push_back(written.stage.name);
    const auto near = nearest_word(name, names);
    const std::string hint = near ? fmt::format("did you mean \"{}\"?", *near)
                                  : fmt::format("stages: {}", fmt::join(names, ", "));
    return fmt::format("stage \"{}\" depends on \"{}\", which does not exist; {}", stage, name,
                       hint);
  }

  /// Takes out stages that wait for nothing that is left, again and again; what stays has a cycle in it.
  void check_cycles() {
    std::vector<bool> settled(stages_.size(), false);
    const auto waits = [&](size_t needed) { return !settled[needed]; };
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < stages_.size(); ++i) {
        const auto& needs = stages_[i].stage.depends;
        if (settled[i] || std::any_of(needs.begin(), needs.end(), waits)) continue;
        settled[i] = true;
        changed = true;
      }
    }
    const auto stuck = std::find(settled.begin(), settled.end(), false);
    if (stuck != settled.end()) report_cycle(static_cast<size_t>(stuck - settled.begin()), settled);
  }

  /// Every stage that is left waits for another one that is left, so going along must come back to a stage seen before.
  void report_cycle(size_t stage, const std::vector<bool>& settled) {
    std::vector<size_t> path;
    while (std::find(path.begin(), path.end(), stage) == path.end()) {
      path.push_back(stage);
      const auto& needs = stages_[stage].stage.depends;
      stage = *std::find_if(needs.begin(), needs.end(),
                            [&](size_t needed) { return !settled[needed]; });
    }
    std::vector<std::string> names;
    for (auto at = std::find(path.begin(), path.end(), stage); at != path.end(); ++at)
      names.push_back(stages_[*at].stage.name);
    names.push_back(stages_[stage].stage.name);
    mistakes_.add(
        stages_[stage].where,
        fmt::format("these stages wait for each other for ever: {}; take one dependency out",
                    fmt::join(names, " -> ")));
  }

  Mistakes mistakes_;
  std::filesystem::path folder_;
  std::vector<WrittenStage> stages_;
};

}  // namespace

Pipeline parse_pipeline(std::string_view text, const std::string& path) {
  toml::table root;
  try {
    root = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    const toml::source_position where = error.source().begin;
    throw Failure(ExitCode::kUsage,
                  fmt::format("{}:{}:{}: {}", path, where.line, where.column, error.description()));
  }
  return Reader(path).read(root);
}

Pipeline read_pipeline(const std::string& path) {
  const os::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const int error = errno;
  std::error_code ignored;
  if (!file.valid() || std::filesystem::is_directory(path, ignored))
    throw Failure(error == EACCES ? ExitCode::kPermission : ExitCode::kNotFound,
                  fmt::format("cannot read the pipeline file {}: {}", path,
                              file.valid() ? "it is a folder" : error_text(error)));
  return parse_pipeline(text_of_file(path), path);
}

std::vector<std::vector<size_t>> waves_of(const Pipeline& pipeline) {
  std::vector<size_t> wave_of(pipeline.stages.size(), 0);
  // Each pass settles at least one more level, so as many passes as stages settle all.
  for (size_t pass = 0; pass < pipeline.stages.size(); ++pass) {
    for (size_t i = 0; i < pipeline.stages.size(); ++i) {
      for (const size_t needed : pipeline.stages[i].depends)
        wave_of[i] = std::max(wave_of[i], wave_of[needed] + 1);
    }
  }
  std::vector<std::vector<size_t>> waves;
  for (size_t i = 0; i < wave_of.size(); ++i) {
    waves.resize(std::max(waves.size(), wave_of[i] + 1));
    waves[wave_of[i]].push_back(i);
  }
  return waves;
}

}  // namespace warpool::cli
