// SPDX-License-Identifier: Apache-2.0
#include "store/names_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/limits.h"
#include "os/file.h"

namespace warpool::store {
namespace {

class NamesFileTest : public ::testing::Test {
 protected:
  NamesFileTest() {
    char folder[] = "/tmp/warpool-names-XXXXXX";
    folder_ = ::mkdtemp(folder);
    path_ = folder_ + "/names";
  }
  ~NamesFileTest() override {
    ::unlink(path_.c_str());
    ::unlink((path_ + ".new").c_str());
    ::rmdir(folder_.c_str());
  }
  std::string folder_;
  std::string path_;
};

using Names = std::map<std::string, std::uint64_t>;

Names names_in(const std::string& path) {
  Names names;
  for (const LostName& lost : NamesFile::read(path.c_str()).names)
    names[std::to_string(lost.owner_uid) + ":" + lost.name] = lost.version;
  return names;
}

TEST_F(NamesFileTest, AMissingOrForeignFileHasNoNames) {
  EXPECT_TRUE(names_in("/nowhere/names").empty());
  std::vector<std::byte> foreign(4096, std::byte{7});
  EXPECT_TRUE(NamesFile::parse(foreign).names.empty());
  EXPECT_EQ(NamesFile::parse({}).version_max, 0u);
}

TEST_F(NamesFileTest, SaysWhatWasLostAndHowHighVersionsWent) {
  {
    NamesFile file = std::move(NamesFile::create(path_, 9)).value();
    ASSERT_TRUE(file.add(1, 5, 3, "a/b").ok());
    ASSERT_TRUE(file.add(2, 6, 8, std::string(kNameBytesMax, 'x')).ok());
    ASSERT_TRUE(file.add(3, 5, 1, "gone").ok());
    file.remove(3);
    file.remove(77);  // unknown: nothing to do
    file.raise_version(5);
  }  // the broker dies here: the file stays
  const NamesFile::Remains remains = NamesFile::read(path_.c_str());
  EXPECT_EQ(remains.epoch, 9u);
  EXPECT_EQ(remains.version_max, 8u);
  EXPECT_EQ(names_in(path_), (Names{{"5:a/b", 3}, {"6:" + std::string(kNameBytesMax, 'x'), 8}}));
}

TEST_F(NamesFileTest, StaysSmallUnderChurn) {
  NamesFile file = std::move(NamesFile::create(path_, 1)).value();
  for (std::uint64_t id = 1; id < 20'000; ++id) {
    ASSERT_TRUE(file.add(id, 1, id, "name" + std::to_string(id)).ok());
    if (id > 10) file.remove(id - 10);
  }
  EXPECT_EQ(names_in(path_).size(), 10u);
  const os::Fd fd = std::move(os::open_file(path_.c_str(), os::Access::kRead)).value();
  EXPECT_LE(os::file_size(fd).value(), 64u * 1024);
  EXPECT_EQ(NamesFile::read(path_.c_str()).version_max, 19'999u);
}

TEST_F(NamesFileTest, ACleanEndLeavesNothing) {
  NamesFile file = std::move(NamesFile::create(path_, 1)).value();
  ASSERT_TRUE(file.add(1, 1, 1, "a").ok());
  file.discard();
  EXPECT_FALSE(os::file_exists(path_.c_str()));
}

TEST_F(NamesFileTest, AFullDiskIsAnErrorAndTheOldListStays) {
  NamesFile file = std::move(NamesFile::create(path_, 1)).value();
  ASSERT_TRUE(file.add(1, 1, 1, "kept").ok());
  // The file may not grow beyond this, as on a full disk.
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 64 * 1024;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Result<void> added;
  std::uint64_t id = 2;
  for (; added.ok() && id < 10'000; ++id)
    added = file.add(id, 1, id, "name" + std::to_string(id));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(added.ok()) << "the list must have reached its first size";
  const Names names = names_in(path_);
  EXPECT_EQ(names.at("1:kept"), 1u);
  EXPECT_EQ(names.size(), id - 2) << "all but the one that failed";
  EXPECT_TRUE(file.add(id, 1, id, "later").ok()) << "there is room again";
  EXPECT_EQ(names_in(path_).count("1:later"), 1u);
}

TEST_F(NamesFileTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_FALSE(NamesFile::create("/nowhere/names", 1).ok());
}

RC_GTEST_PROP(NamesFileParse, StaysInsideWhateverTheBytesAre, ()) {
  char path[] = "/tmp/warpool-names-XXXXXX";
  ::close(::mkstemp(path));
  std::vector<std::byte> bytes;
  {
    NamesFile file = std::move(NamesFile::create(path, 3)).value();
    const auto count = *rc::gen::inRange<std::uint64_t>(0, 6);
    for (std::uint64_t id = 0; id < count; ++id) {
      const auto length = *rc::gen::inRange<std::size_t>(1, kNameBytesMax + 1);
      RC_ASSERT(file.add(id, 1, id, std::string(length, 'n')).ok());
    }
    const os::Fd fd = std::move(os::open_file(path, os::Access::kRead)).value();
    bytes.resize(*rc::gen::inRange<std::size_t>(0, 2000));
    RC_ASSERT(os::read_at(fd, bytes.data(), bytes.size(), 0).ok());
    file.discard();
  }
  const auto times = bytes.empty() ? 0 : *rc::gen::inRange(0, 8);
  for (int i = 0; i < times; ++i)
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] =
        static_cast<std::byte>(*rc::gen::arbitrary<std::uint8_t>());
  std::size_t total = 0;
  for (const LostName& lost : NamesFile::parse(bytes).names) {
    RC_ASSERT(lost.name.size() <= kNameBytesMax);
    total += lost.name.size();
  }
  RC_ASSERT(total <= bytes.size());
}

}  // namespace
}  // namespace warpool::store
