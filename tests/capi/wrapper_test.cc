// SPDX-License-Identifier: Apache-2.0
// The C++ wrapper against the shared library and a broker that it starts itself.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <numeric>
#include <warpool/warpool.hpp>

namespace {

class Wrapper : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/warpool-wrapper-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    setenv("WARPOOL_SOCKET", (folder_ + "/warpool.sock").c_str(), 1);
  }
  void TearDown() override {
    warpool::Connection pool;
    warpool_error error;
    EXPECT_EQ(warpool_shutdown(pool.handle(), 1, &error), WARPOOL_OK) << error.message;
    std::filesystem::remove_all(folder_);
  }
  std::string folder_;
};

TEST_F(Wrapper, WhatIsCreatedIsGotWithItsShapeAndOrder) {
  warpool::Connection pool;
  auto draft = pool.create<double>("lab/ramp", {3, 50000}, WARPOOL_ORDER_F);
  std::iota(draft.values().begin(), draft.values().end(), 0.0);
  EXPECT_EQ(draft.publish(), 1U);
  const warpool::Array array = pool.get("lab/ramp");
  EXPECT_EQ(array.part().ndim, 2U);
  EXPECT_EQ(array.part().shape[0], 3);
  EXPECT_EQ(array.part().strides[0], 8);
  EXPECT_EQ(array.values<double>()[149999], 149999.0);
}

TEST_F(Wrapper, WrongElementTypeAndWrongNumberThrow) {
  warpool::Connection pool;
  const std::vector<int32_t> values = {1, 2, 3};
  EXPECT_EQ(pool.put<int32_t>("n", values, {3}), 1U);
  EXPECT_EQ(pool.put<int32_t>("n", values, {3}), 2U);
  EXPECT_THROW((void)pool.get("n").values<float>(), std::invalid_argument);
  EXPECT_THROW(pool.put<int32_t>("n", values, {4}), std::invalid_argument);
}

TEST_F(Wrapper, FailuresThrowWithTheirCode) {
  warpool::Connection pool;
  try {
    (void)pool.get("nothing");
    FAIL() << "a missing name must throw";
  } catch (const warpool::Exception& exception) {
    EXPECT_EQ(exception.code(), WARPOOL_NOT_FOUND);
    EXPECT_NE(std::string(exception.what()).find("nothing"), std::string::npos);
  }
}

TEST_F(Wrapper, AnUnpublishedDraftLeavesNothing) {
  warpool::Connection pool;
  { auto draft = pool.create<float>("gone", {100000}); }
  EXPECT_THROW((void)pool.get("gone"), warpool::Exception);
  warpool_broker_info info;
  ASSERT_EQ(warpool_get_broker_info(pool.handle(), &info, nullptr), WARPOOL_OK);
  EXPECT_EQ(info.memory_used, 0U);
}

}  // namespace
