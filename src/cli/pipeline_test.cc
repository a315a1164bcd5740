// SPDX-License-Identifier: Apache-2.0
#include "cli/pipeline.h"

#include <gtest/gtest.h>

#include "cli/failure.h"

namespace warpool::cli {
namespace {

/// The message that a file is refused with.
std::string refusal(const std::string& text) {
  try {
    parse_pipeline(text, "dir/file.toml");
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::kUsage);
    return failure.what();
  }
  ADD_FAILURE() << "accepted:\n" << text;
  return "";
}

void expect_refused(const std::string& text, const std::string& part) {
  const std::string message = refusal(text);
  EXPECT_NE(message.find(part), std::string::npos)
      << "message: " << message << "\nwanted: " << part;
}

constexpr const char* kGood = R"(
[[stage]]
name = "prepare"
command = "echo $X | cat"
env = { X = "1", Y = "" }

[[stage]]
name = "train"
command = ["python3", "train.py", "--fast"]
depends = ["prepare", "prepare"]
label = "learner"
dir = "sub/.."
)";

TEST(Pipeline, ReadsStages) {
  const Pipeline pipeline = parse_pipeline(kGood, "dir/file.toml");
  ASSERT_EQ(pipeline.stages.size(), 2u);
  const Stage& prepare = pipeline.stages[0];
  EXPECT_EQ(prepare.command, (std::vector<std::string>{"/bin/sh", "-c", "echo $X | cat"}));
  EXPECT_EQ(prepare.env, (std::map<std::string, std::string>{{"X", "1"}, {"Y", ""}}));
  EXPECT_EQ(prepare.label, "prepare");
  EXPECT_EQ(prepare.dir, "dir/");
  const Stage& train = pipeline.stages[1];
  EXPECT_EQ(train.command, (std::vector<std::string>{"python3", "train.py", "--fast"}));
  EXPECT_EQ(train.depends, std::vector<size_t>{0});
  EXPECT_EQ(train.label, "learner");
}

TEST(Pipeline, FoldersAreRelativeToTheFile) {
  const char* text = "[[stage]]\nname='a'\ncommand='x'\ndir='/abs'\n";
  EXPECT_EQ(parse_pipeline(text, "dir/file.toml").stages[0].dir, "/abs");
  EXPECT_EQ(parse_pipeline("[[stage]]\nname='a'\ncommand='x'\n", "file.toml").stages[0].dir, ".");
}

TEST(Pipeline, SyntaxErrorsHaveAPlace) {
  expect_refused("[[stage]\n", "dir/file.toml:1:9: ");
}

TEST(Pipeline, UnknownKeysAreNamedWithTheLikelyOne) {
  expect_refused(
      "[[stage]]\nname='a'\ncommand='x'\ndepend=['b']\n",
      "dir/file.toml:4:1: unknown key \"depend\" in stage \"a\"; did you mean \"depends\"?");
  expect_refused("title='t'\n[[stage]]\nname='a'\ncommand='x'\n",
                 "dir/file.toml:1:1: unknown key \"title\"");
}

TEST(Pipeline, AllMistakesAtOnce) {
  const std::string message = refusal("[[stage]]\nname='a'\n[[stage]]\ncommand='x'\n");
  EXPECT_NE(message.find(":1:1: stage \"a\" has no command"), std::string::npos) << message;
  EXPECT_NE(message.find(":3:1: this stage has no name"), std::string::npos) << message;
}

TEST(Pipeline, NamesAreUniqueAndPlain) {
  expect_refused("[[stage]]\nname='a'\ncommand='x'\n[[stage]]\nname='a'\ncommand='x'\n",
                 ":4:1: the name \"a\" is taken by the stage of line 1");
  expect_refused("[[stage]]\nname='a b'\ncommand='x'\n", "\"a b\" is no name for a stage");
  expect_refused("[[stage]]\nname='" + std::string(kMaxStageName + 1, 'n') + "'\ncommand='x'\n",
                 "is no name");
  parse_pipeline("[[stage]]\nname='" + std::string(kMaxStageName, 'n') + "'\ncommand='x'\n", "f");
}

TEST(Pipeline, DependenciesExistAndHaveNoCycle) {
  expect_refused(
      "[[stage]]\nname='prepare'\ncommand='x'\n[[stage]]\nname='b'\ncommand='x'\ndepends=['prepar']"
      "\n",
      ":7:10: stage \"b\" depends on \"prepar\", which does not exist; did you mean \"prepare\"?");
  expect_refused("[[stage]]\nname='a'\ncommand='x'\ndepends=['a']\n", "a -> a");
  expect_refused(
      "[[stage]]\nname='z'\ncommand='x'\ndepends=['a']\n[[stage]]\nname='a'\ncommand='x'\ndepends=["
      "'b']\n"
      "[[stage]]\nname='b'\ncommand='x'\ndepends=['c']\n[[stage]]\nname='c'\ncommand='x'\ndepends=["
      "'a']\n",
      "a -> b -> c -> a");
}

TEST(Pipeline, WrongTypes) {
  expect_refused("stage = 5\n", "write [[stage]] with two brackets");
  expect_refused("", "there is no stage");
  expect_refused("[[stage]]\nname=1\ncommand='x'\n", ":2:6: \"name\" must be a string");
  expect_refused("[[stage]]\nname='a'\ncommand=[]\n", "the command of stage \"a\" is empty");
  expect_refused("[[stage]]\nname='a'\ncommand=['x', 3]\n",
                 "must be a string (run by sh) or a list of strings");
  expect_refused("[[stage]]\nname='a'\ncommand='  '\n", "the command of stage \"a\" is empty");
  expect_refused("[[stage]]\nname='a'\ncommand='x'\nenv='A=1'\n",
                 "\"env\" of stage \"a\" must be a table");
  expect_refused("[[stage]]\nname='a'\ncommand='x'\n[stage.env]\nA=1\n",
                 ":5:3: \"A\" must be a string");
  expect_refused("[[stage]]\nname='a'\ncommand='x'\ndepends='b'\n", "must be a list of names");
  expect_refused("[[stage]]\nname='a'\ncommand=\"x\\u0000y\"\n", "contains a NUL");
  expect_refused("[[stage]]\nname='a'\ncommand='x'\nenv={WARPOOL_RUN='1'}\n",
                 "WARPOOL_RUN is set by the pipeline");
  expect_refused("[[stage]]\nname='a'\ncommand='x'\nenv={'A=B'='1'}\n",
                 "is no name of an environment variable");
}

TEST(Pipeline, MostStagesAndOneMore) {
  std::string text;
  for (size_t i = 0; i < kMaxStages; ++i)
    text += "[[stage]]\nname='s" + std::to_string(i) + "'\ncommand='x'\n";
  EXPECT_EQ(parse_pipeline(text, "f").stages.size(), kMaxStages);
  expect_refused(text + "[[stage]]\nname='more'\ncommand='x'\n", "257 stages are more than 256");
}

TEST(Pipeline, FilesThatCannotBeRead) {
  for (const char* path : {"/nowhere/file.toml", "/"}) {
    try {
      read_pipeline(path);
      FAIL() << path;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), ExitCode::kNotFound);
    }
  }
}

TEST(Waves, FollowTheLongestChain) {
  const Pipeline pipeline = parse_pipeline(
      "[[stage]]\nname='d'\ncommand='x'\ndepends=['b','a']\n[[stage]]\nname='a'\ncommand='x'\n"
      "[[stage]]\nname='b'\ncommand='x'\ndepends=['a']\n[[stage]]\nname='c'\ncommand='x'\n",
      "f");
  EXPECT_EQ(waves_of(pipeline), (std::vector<std::vector<size_t>>{{1, 3}, {2}, {0}}));
}

}  // namespace
}  // namespace warpool::cli
