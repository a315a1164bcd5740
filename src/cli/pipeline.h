// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warpool::cli {

/// One program of a pipeline.
struct Stage {
  std::string name;
  std::vector<std::string> command;  ///< a string in the file becomes {"/bin/sh", "-c", string}
  std::map<std::string, std::string> env;
  std::string label;  ///< shown by `warpool ps`; the name if the file gives none
  std::vector<size_t>
      depends;      ///< indices of the stages that must have ended well before this one starts
  std::string dir;  ///< working folder, absolute or relative to the current one
};

/// A checked pipeline: names are unique, dependencies exist and have no cycle.
struct Pipeline {
  std::vector<Stage> stages;
};

/// Most stages of a pipeline: each takes a process, two pipes and a prefix colour.
constexpr size_t kMaxStages = 256;
/// Longest stage name, so that prefixes leave room for the output.
constexpr size_t kMaxStageName = 40;

/**
 * Reads a pipeline from TOML text. `path` is for messages and for `dir`, which is relative to the folder of the file. Throws Failure
 * (usage) with every mistake found, each as "path:line:column: what, and what to do".
 */
Pipeline parse_pipeline(std::string_view text, const std::string& path);
/// Reads the file and parses it. Throws Failure (not found) if it cannot be read.
Pipeline read_pipeline(const std::string& path);

/// Stages in waves: all stages of one wave can run together once the waves before have ended.
std::vector<std::vector<size_t>> waves_of(const Pipeline& pipeline);

}  // namespace warpool::cli
