// SPDX-License-Identifier: Apache-2.0
#include "os/memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "os/file.h"

namespace warpool::os {
namespace {

constexpr std::uint64_t kBytes = 16 * 4096;

Fd new_memory() {
  Fd fd = std::move(create_memfd("test", kBytes)).value();
  EXPECT_TRUE(allocate_pages(fd, kBytes).ok());
  return fd;
}

Mapping map(const Fd& fd, MapMode mode) {
  return std::move(map_memfd(fd, kBytes, mode)).value();
}

TEST(RoundToPage, AtAndAroundThePage) {
  EXPECT_EQ(round_to_page(0), 0u);
  EXPECT_EQ(round_to_page(1), 4096u);
  EXPECT_EQ(round_to_page(4096), 4096u);
  EXPECT_EQ(round_to_page(4097), 8192u);
}

TEST(Memfd, CanNeitherShrinkNorGrowFromBirth) {
  const Fd fd = new_memory();
  EXPECT_NE(::ftruncate(fd.get(), 0), 0);
  EXPECT_NE(::ftruncate(fd.get(), 2 * kBytes), 0);
  EXPECT_NE(::fallocate(fd.get(), 0, kBytes, 4096), 0);
  EXPECT_EQ(file_size(fd).value(), kBytes);
  EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Memfd, HolesAreSeenAndPagesAreCounted) {
  const Fd holes = std::move(create_memfd("test", kBytes)).value();
  EXPECT_EQ(inspect_memfd(holes).value().allocated, 0u);
  EXPECT_TRUE(allocate_pages(holes, 4096, 4096).ok());
  EXPECT_EQ(inspect_memfd(holes).value().allocated, 4096u);
  const MemfdFacts facts = inspect_memfd(new_memory()).value();
  EXPECT_EQ(facts.allocated, kBytes);
  EXPECT_EQ(facts.size, kBytes);
  EXPECT_FALSE(facts.sealed);
}

TEST(Memfd, SealForbidsEveryWrite) {
  const Fd fd = new_memory();
  EXPECT_EQ(seal_writes(fd).value(), SealOutcome::kSealed);
  EXPECT_TRUE(inspect_memfd(fd).value().sealed);
  EXPECT_FALSE(write_at(fd, "x", 1, 0).ok());
  EXPECT_FALSE(map_memfd(fd, kBytes, MapMode::kWritableShared).ok());
  EXPECT_TRUE(map_memfd(fd, kBytes, MapMode::kReadOnly).ok());
  EXPECT_TRUE(map_memfd(fd, kBytes, MapMode::kWritablePrivate).ok());
}

TEST(Memfd, SealIsBusyWhileSomebodyCanWrite) {
  const Fd fd = new_memory();
  {
    const Mapping writable = map(fd, MapMode::kWritableShared);
    EXPECT_EQ(seal_writes(fd).value(), SealOutcome::kBusy);
    EXPECT_FALSE(inspect_memfd(fd).value().sealed);
  }
  EXPECT_EQ(seal_writes(fd).value(), SealOutcome::kSealed);
}

TEST(Memfd, MissingBirthSealsAreNotSealed) {
  const Fd fd(static_cast<int>(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  ASSERT_EQ(::ftruncate(fd.get(), 4096), 0);
  EXPECT_EQ(seal_writes(fd).value(), SealOutcome::kSealed);
  EXPECT_FALSE(inspect_memfd(fd).value().sealed);
}

TEST(Memfd, OtherDescriptorsAreRefused) {
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const Result<MemfdFacts> facts = inspect_memfd(null);
  ASSERT_FALSE(facts.ok());
  EXPECT_EQ(facts.error().code, Code::kInvalidArgument);
  EXPECT_FALSE(inspect_memfd(Fd()).ok());
}

TEST(MakePrivate, OldViewsStayAndLateWritesAreSeenHereOnly) {
  const Fd fd = new_memory();
  const Mapping draft = map(fd, MapMode::kWritableShared);
  auto* view = reinterpret_cast<char*>(draft.data());
  std::strcpy(view, "before");
  std::strcpy(view + 4096, "untouched");
  ASSERT_TRUE(make_private(draft, fd).ok());
  ASSERT_EQ(seal_writes(fd).value(), SealOutcome::kSealed);
  EXPECT_STREQ(view, "before");
  EXPECT_EQ(private_bytes(draft), 0u);

  const Mapping reader = map(fd, MapMode::kReadOnly);
  std::strcpy(view, "after!");
  EXPECT_STREQ(view, "after!");
  EXPECT_STREQ(reinterpret_cast<const char*>(reader.data()), "before");
  EXPECT_EQ(private_bytes(draft), 4096u);
  EXPECT_STREQ(view + 4096, "untouched");
}

TEST(MakePrivate, NothingIsFineToo) {
  const Fd fd = new_memory();
  EXPECT_TRUE(make_private(Mapping(), fd).ok());
  EXPECT_FALSE(map_memfd(fd, 0, MapMode::kReadOnly).value().valid());
}

TEST(MapMemfd, CopyOnWriteChangesNobodyElse) {
  const Fd fd = new_memory();
  ASSERT_TRUE(write_at(fd, "shared", 7, 0).ok());
  ASSERT_EQ(seal_writes(fd).value(), SealOutcome::kSealed);
  const Mapping reader = map(fd, MapMode::kReadOnly);
  const Mapping copy = map(fd, MapMode::kWritablePrivate);
  std::strcpy(reinterpret_cast<char*>(copy.data()), "mine");
  EXPECT_STREQ(reinterpret_cast<const char*>(reader.data()), "shared");
}

TEST(Mapping, MovesLikeAnOwner) {
  const Fd fd = new_memory();
  Mapping first = map(fd, MapMode::kReadOnly);
  const std::byte* address = first.data();
  Mapping second = std::move(first);
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(second.data(), address);
  second = Mapping();
  EXPECT_FALSE(second.valid());
  unsigned char resident = 0;
  EXPECT_NE(::mincore(const_cast<std::byte*>(address), 4096, &resident), 0) << "still mapped";
}

TEST(PhysicalMemory, IsPlausible) {
  EXPECT_GT(physical_memory(), std::uint64_t{64} << 20);
}

}  // namespace
}  // namespace warpool::os
