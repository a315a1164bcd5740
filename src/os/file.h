// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/fd.h"

namespace warpool::os {

/// Text of a small file such as one under /proc, at most 4 KiB of it.
Result<Text> read_small_file(const char* path);

enum class Access : std::uint8_t { kRead, kCreateOrTruncate, kReadWriteCreate };
/// Opens close-on-exec; new files have mode 0600.
Result<Fd> open_file(const char* path, Access access);
Result<std::uint64_t> file_size(const Fd& fd);
Result<void> set_file_size(const Fd& fd, std::uint64_t bytes);
/// Reads or writes exactly `bytes` at `offset`; a short file is an error that says so.
Result<void> read_at(const Fd& fd, void* data, std::size_t bytes, std::uint64_t offset);
Result<void> write_at(const Fd& fd, const void* data, std::size_t bytes, std::uint64_t offset);
Result<void> sync_file(const Fd& fd);
Result<void> rename_file(const char* from, const char* to);
void remove_file(const char* path);
/// Removes a folder if it is empty.
void remove_folder(const char* path);
bool file_exists(const char* path);
/// Does it exist and is something else than a regular file (a folder, a device, a pipe)? Links are followed.
bool is_special(const char* path);
/// Is it a file that this process may execute?
bool is_executable(const char* path);

/// Makes (or takes over) a folder with mode 0700 that belongs to the effective user; refuses links, other owners and
/// folders that others may write to, since sockets and locks in it are trusted.
Result<void> ensure_private_folder(const char* path);

/// An exclusive advisory lock on a file, released when the Fd closes. Blocks up to `timeout_ms`.
Result<Fd> lock_file(const char* path, std::int64_t timeout_ms);

/// Folder part of a path ("." where there is none).
Text parent_folder(std::string_view path);
/// Path of the running executable.
Result<Text> executable_path();

}  // namespace warpool::os
