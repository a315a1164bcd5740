// SPDX-License-Identifier: Apache-2.0
// Saving and loading.
#include <fcntl.h>

#include "fixture.h"

namespace warpool::inprocess {
namespace {

class Files : public ::testing::Test {
 protected:
  ~Files() override { ::unlink(path_.c_str()); }
  Broker broker_;
  Program program_{broker_};
  std::string path_ = broker_.folder() + "/file";
  Error error_;
};

TEST_F(Files, PlainArraysBecomeNpyWithTheirAttributes) {
  for (const std::size_t count : {kSmall, kLarge}) {
    warpool_create_options options = WARPOOL_CREATE_OPTIONS_INIT;
    options.attributes = "{\"a\": 1}";
    EXPECT_OK(put(program_, "x", count, 7, error_.out(), &options), error_);
    EXPECT_OK(warpool_save(program_, "x", 0, path_.c_str(), error_.out()), error_);
    std::uint64_t version = 0;
    EXPECT_OK(warpool_load(program_, path_.c_str(), "y", nullptr, &version, error_.out()), error_);
    const Array array = get(program_, "y");
    EXPECT_EQ(std::memcmp(values_of(array), ramp(count, 7).data(), count * 8), 0);
    EXPECT_STREQ(warpool_array_get_info(array.get())->attributes, "{\"a\": 1}");
    std::string start(6, ' ');
    const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(::read(fd, start.data(), 6), 6);
    ::close(fd);
    EXPECT_EQ(start, "\x93NUMPY");
  }
}

TEST_F(Files, TreesComeBackWhole) {
  const std::vector<double> values = ramp(5, 1);
  std::vector<warpool_part> parts(3);
  parts[0].path = "";
  parts[0].kind = WARPOOL_KIND_STRUCT;
  parts[0].dtype = WARPOOL_UINT8;
  parts[1] = doubles(5, values.data());
  parts[1].path = "numbers";
  const std::int64_t five = 5;
  ASSERT_EQ(warpool_part_init(&parts[2], WARPOOL_UINT8, 1, &five, WARPOOL_ORDER_C, nullptr),
            WARPOOL_OK);
  parts[2].path = "text";
  parts[2].kind = WARPOOL_KIND_TEXT;
  parts[2].data = "hello";
  EXPECT_OK(warpool_put(program_, "x", parts.data(), 3, nullptr, nullptr, error_.out()), error_);
  EXPECT_OK(warpool_save(program_, "x", 0, path_.c_str(), error_.out()), error_);
  EXPECT_OK(warpool_load(program_, path_.c_str(), "y", nullptr, nullptr, error_.out()), error_);
  const Array array = get(program_, "y");
  const warpool_array_info& info = *warpool_array_get_info(array.get());
  ASSERT_EQ(info.part_count, 3u);
  EXPECT_EQ(static_cast<const double*>(info.parts[1].data)[4], 5);
  EXPECT_EQ(std::memcmp(info.parts[2].data, "hello", 5), 0);
}

TEST_F(Files, WhatCannotBeReadOrWrittenIsSaid) {
  EXPECT_OK(put(program_, "x", kSmall, 0, error_.out()), error_);
  EXPECT_NE(warpool_save(program_, "x", 0, "/nowhere/file", error_.out()), WARPOOL_OK);
  EXPECT_TRUE(error_.says("/nowhere/file")) << error_.text();
  EXPECT_EQ(warpool_save(program_, "missing", 0, path_.c_str(), error_.out()), WARPOOL_NOT_FOUND);
  EXPECT_EQ(warpool_save(program_, "x", 0, nullptr, error_.out()), WARPOOL_INVALID_ARGUMENT);
  EXPECT_EQ(warpool_load(program_, path_.c_str(), "y", nullptr, nullptr, error_.out()),
            WARPOOL_NOT_FOUND);
  EXPECT_TRUE(error_.says(path_.c_str()));
  const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  EXPECT_EQ(::write(fd, "no array at all, just text", 26), 26);
  ::close(fd);
  EXPECT_EQ(warpool_load(program_, path_.c_str(), "y", nullptr, nullptr, error_.out()),
            WARPOOL_INVALID_ARGUMENT);
  EXPECT_OK(warpool_save(program_, "x", 0, path_.c_str(), error_.out()), error_);
  EXPECT_EQ(::truncate(path_.c_str(), 140), 0);
  EXPECT_EQ(warpool_load(program_, path_.c_str(), "y", nullptr, nullptr, error_.out()),
            WARPOOL_INVALID_ARGUMENT);
  EXPECT_TRUE(error_.says("cut off")) << error_.text();
  EXPECT_EQ(program_.info().arrays, 1u);
  EXPECT_EQ(program_.info().memory_drafts, 0u);
}

}  // namespace
}  // namespace warpool::inprocess
