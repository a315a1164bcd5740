// SPDX-License-Identifier: Apache-2.0
#include "os/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "os/file.h"
#include "os/memory.h"

namespace warpool::os {
namespace {

TEST(Container, IdIsFoundInEveryCgroupLayout) {
  const std::string id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  const auto found = [](const std::string& text) {
    return std::string(container_in_cgroup(text).view());
  };
  EXPECT_EQ(found("0::/docker/" + id + "\n"), "0123456789ab");
  EXPECT_EQ(found("0::/machine.slice/libpod-" + id + ".scope/container"), "0123456789ab");
  EXPECT_EQ(found("12:pids:/kubepods/besteffort/pod1/" + id), "0123456789ab");
  EXPECT_EQ(found("0::/user.slice/user-1000.slice/session-2.scope\n"), "");
  EXPECT_EQ(found(""), "");
  EXPECT_EQ(found("/" + id.substr(1)), "") << "63 digits are no id";
  EXPECT_EQ(found("/" + id + "0"), "") << "65 digits are no id";
}

TEST(Users, NamesAndNumbersGoBothWays) {
  EXPECT_STREQ(user_name(0).c_str(), "root");
  EXPECT_EQ(user_id("root").value(), 0u);
  EXPECT_EQ(user_id("4294967294").value(), 4294967294u);
  EXPECT_EQ(user_id("4294967295").error().code, Code::kNotFound) << "the number that means nobody";
  EXPECT_EQ(user_id("").error().code, Code::kNotFound);
  EXPECT_EQ(user_id("-1").error().code, Code::kNotFound);
  EXPECT_EQ(user_id("1x").error().code, Code::kNotFound);
  EXPECT_STREQ(user_name(4294967290).c_str(), "4294967290");
}

TEST(CommandLine, IsOfThisProcessAndPrintable) {
  EXPECT_NE(command_line(process_id()).view().find("test"), std::string_view::npos);
  EXPECT_TRUE(command_line(-1).empty());
}

/// Starts a shell that writes what it finds at descriptor 3, 4, ... to a pipe.
std::string contents_in_child(const std::vector<int>& inherited) {
  int pipe_fds[2];
  EXPECT_EQ(::pipe(pipe_fds), 0);
  for (const int fd : inherited)
    ::lseek(fd, 0, SEEK_SET);
  std::string script = "exec 1>&" + std::to_string(3 + inherited.size()) + "; ";
  for (std::size_t i = 0; i < inherited.size(); ++i)
    script += "cat <&" + std::to_string(3 + i) + "; ";
  std::string shell = "/bin/sh";
  std::string flag = "-c";
  char* const argv[] = {shell.data(), flag.data(), script.data(), nullptr};
  std::vector<int> all = inherited;
  all.push_back(pipe_fds[1]);
  const Result<std::int32_t> pid = spawn("/bin/sh", argv, all);
  ::close(pipe_fds[1]);
  std::string text;
  char buffer[256];
  for (ssize_t got = 0; (got = ::read(pipe_fds[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(pipe_fds[0]);
  EXPECT_TRUE(pid.ok() && reap(pid.value()));
  return text;
}

Fd file_with(const char* text, int number) {
  Fd fd = std::move(create_memfd("test", 4)).value();
  EXPECT_TRUE(write_at(fd, text, 4, 0).ok());
  if (number < 0 || fd.get() == number) return fd;
  return Fd(::dup3(fd.get(), number, O_CLOEXEC));
}

TEST(Spawn, DescriptorsGetTheirNumbersWhateverTheyWereBefore) {
  {
    const Fd a = file_with("aaa ", -1);
    const Fd b = file_with("bbb ", -1);
    EXPECT_EQ(contents_in_child({a.get(), b.get()}), "aaa bbb ");
  }
  {
    // Numbers that the child uses as targets, in the wrong order.
    const Fd a = file_with("aaa ", 254);
    const Fd b = file_with("bbb ", 253);
    EXPECT_EQ(contents_in_child({a.get(), b.get()}), "aaa bbb ");
  }
  // Whatever numbers spawn moves descriptors through on the way, sources may have just these.
  for (int first = 3; first < 240; ++first) {
    if (::fcntl(first, F_GETFD) >= 0 || ::fcntl(first + 1, F_GETFD) >= 0) continue;
    if (first > 12 && first < 198) continue;
    const Fd b = file_with("bbb ", first);
    const Fd a = file_with("aaa ", first + 1);
    ASSERT_EQ(contents_in_child({a.get(), b.get()}), "aaa bbb ") << "with number " << first;
    ASSERT_EQ(contents_in_child({b.get(), a.get()}), "bbb aaa ") << "with number " << first;
  }
}

TEST(Spawn, AMissingProgramIsAnError) {
  std::string name = "/nowhere/program";
  char* const argv[] = {name.data(), nullptr};
  const Result<std::int32_t> pid = spawn(name.c_str(), argv, {});
  ASSERT_FALSE(pid.ok());
  EXPECT_NE(pid.error().message.view().find("/nowhere/program"), std::string_view::npos);
  EXPECT_FALSE(reap(1));
}

TEST(PrivateFolder, RefusesWhatOthersCouldHaveMade) {
  char base[] = "/tmp/warpool-os-XXXXXX";
  ASSERT_NE(::mkdtemp(base), nullptr);
  const std::string root = base;
  EXPECT_TRUE(ensure_private_folder((root + "/new").c_str()).ok());
  EXPECT_TRUE(ensure_private_folder((root + "/new").c_str()).ok()) << "again";
  ::mkdir((root + "/open").c_str(), 0700);
  ::chmod((root + "/open").c_str(), 0777);
  EXPECT_EQ(ensure_private_folder((root + "/open").c_str()).error().code, Code::kPermissionDenied);
  ASSERT_EQ(::symlink((root + "/new").c_str(), (root + "/link").c_str()), 0);
  EXPECT_EQ(ensure_private_folder((root + "/link").c_str()).error().code, Code::kPermissionDenied);
  ASSERT_TRUE(open_file((root + "/file").c_str(), Access::kReadWriteCreate).ok());
  EXPECT_EQ(ensure_private_folder((root + "/file").c_str()).error().code, Code::kPermissionDenied);
  for (const char* name : {"/new", "/open", "/link", "/file"})
    if (::rmdir((root + name).c_str()) != 0) ::unlink((root + name).c_str());
  ::rmdir(base);
}

TEST(LockFile, IsHeldByOneAtATime) {
  const std::string path = "/tmp/warpool-lock-" + std::to_string(process_id());
  {
    const Fd held = std::move(lock_file(path.c_str(), 0)).value();
    EXPECT_EQ(lock_file(path.c_str(), 0).error().code, Code::kTimedOut);
  }
  EXPECT_TRUE(lock_file(path.c_str(), 0).ok());
  remove_file(path.c_str());
}

TEST(Files, ShortOnesAreAnErrorAndPartsAreFound) {
  const Fd fd = std::move(create_memfd("test", 8)).value();
  char data[16];
  EXPECT_TRUE(read_at(fd, data, 8, 0).ok());
  EXPECT_EQ(read_at(fd, data, 9, 0).error().code, Code::kIoError);
  EXPECT_STREQ(parent_folder("/a/b").c_str(), "/a");
  EXPECT_STREQ(parent_folder("/a").c_str(), "/");
  EXPECT_STREQ(parent_folder("a").c_str(), ".");
  EXPECT_EQ(open_file("/nowhere/file", Access::kRead).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace warpool::os
