// SPDX-License-Identifier: Apache-2.0
// Items to disk and back. A file appears complete or not at all.
#include <cstring>

#include "client/drafts.h"
#include "os/clock.h"
#include "os/file.h"
#include "store/file_format.h"

namespace warpool::client {
namespace {

Error about_file(const Error& error, const char* path) {
  return Error::format(error.code, "%s: %s", path, error.message.c_str());
}

std::vector<array::Part> parts_of(const warpool_array_info& info) {
  std::vector<array::Part> parts(info.part_count);
  for (std::uint32_t i = 0; i < info.part_count; ++i) {
    const warpool_part& from = info.parts[i];
    parts[i].path = Text(from.path);
    parts[i].kind = static_cast<array::Kind>(from.kind);
    parts[i].dtype = static_cast<array::Dtype>(from.dtype);
    parts[i].shape.assign(from.shape, from.shape + from.ndim);
    parts[i].strides.assign(from.strides, from.strides + from.ndim);
    parts[i].offset = from.offset;
  }
  return parts;
}

Result<void> write_item(const os::Fd& fd, const warpool_array_info& info) {
  const std::string_view attributes(info.attributes);
  WARPOOL_ASSIGN(const std::vector<std::uint8_t> start,
                 store::format_file_start(parts_of(info), info.size, attributes));
  WARPOOL_TRY(os::write_at(fd, start.data(), start.size(), 0));
  WARPOOL_TRY(os::write_at(fd, info.data, info.size, start.size()));
  const bool is_npy = start[0] == 0x93;
  if (is_npy && !attributes.empty()) {
    const std::uint64_t end = start.size() + info.size;
    WARPOOL_TRY(os::write_at(fd, store::kNpyAttributesMagic, store::kFileMagicBytes, end));
    WARPOOL_TRY(
        os::write_at(fd, attributes.data(), attributes.size(), end + store::kFileMagicBytes));
  }
  return os::sync_file(fd);
}

Result<void> save(const warpool_array_info& info, const char* path) {
  // A rename would put a regular file in the place of a device or a pipe.
  if (*path == '\0' || os::is_special(path))
    return Error::format(Code::kInvalidArgument,
                         "\"%s\" is no file that can be written: it is empty, a folder or a "
                         "device; give the path of a file",
                         path);
  const Text temporary =
      Text::format("%s.%llx.part", path, static_cast<unsigned long long>(os::random_u64()));
  Result<void> written;
  {
    Result<os::Fd> fd = os::open_file(temporary.c_str(), os::Access::kCreateOrTruncate);
    if (!fd.ok()) return fd.take_error();
    written = write_item(fd.value(), info);
  }
  if (written.ok()) written = os::rename_file(temporary.c_str(), path);
  if (!written.ok()) {
    os::remove_file(temporary.c_str());
    return about_file(written.error(), path);
  }
  return {};
}

Result<Text> read_npy_attributes(const os::Fd& fd, std::uint64_t from, std::uint64_t file_bytes) {
  const std::uint64_t rest = file_bytes - from;
  if (rest <= store::kFileMagicBytes || rest > store::kFileMagicBytes + kAttributesBytesMax)
    return Text();
  std::vector<char> text(rest);
  WARPOOL_TRY(os::read_at(fd, text.data(), rest, from));
  if (std::memcmp(text.data(), store::kNpyAttributesMagic, store::kFileMagicBytes) != 0)
    return Text();
  return Text({text.data() + store::kFileMagicBytes, rest - store::kFileMagicBytes});
}

Result<PublishedAs> load(Connection& connection, const char* path, const char* name,
                         const warpool_create_options* given) {
  WARPOOL_ASSIGN(const os::Fd fd, os::open_file(path, os::Access::kRead));
  WARPOOL_ASSIGN(const std::uint64_t file_bytes, os::file_size(fd));
  std::vector<std::uint8_t> start(file_bytes < store::kFileStartBytes ? file_bytes
                                                                      : store::kFileStartBytes);
  WARPOOL_TRY(os::read_at(fd, start.data(), start.size(), 0));
  Result<store::FileContents> contents = store::parse_file(start, file_bytes);
  if (!contents.ok()) return about_file(contents.error(), path);
  const store::FileContents& file = contents.value();
  Text attributes = file.attributes;
  if (file.is_npy) {
    WARPOOL_ASSIGN(attributes, read_npy_attributes(fd, file.data_offset + file.size, file_bytes));
  }
  warpool_create_options options = WARPOOL_CREATE_OPTIONS_INIT;
  if (given != nullptr) options = *given;
  if (options.attributes == nullptr) options.attributes = attributes.c_str();
  const std::uint64_t data_offset = file.data_offset;
  const std::uint64_t size = file.size;
  std::vector<std::uint64_t> offsets;
  for (const array::Part& part : file.parts)
    offsets.push_back(part.offset);
  WARPOOL_ASSIGN(std::unique_ptr<warpool_draft> draft,
                 new_draft(connection, name, std::move(contents).value().parts, &options));
  // Files hold items as they lie in memory. One whose parts lie elsewhere was not written by us: its bytes would be mixed up.
  bool same = draft->size == size;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    same = same && draft->parts[i].offset == offsets[i];
  Result<void> filled =
      same ? give_memory(*draft)
           : Result<void>(Error::format(Code::kInvalidArgument,
                                        "its parts are not placed as Warpool places them"));
  if (filled.ok()) filled = os::read_at(fd, draft->memory->data(), size, data_offset);
  Result<PublishedAs> published = filled.ok()
                                      ? publish_draft(*draft, false, false)
                                      : Result<PublishedAs>(about_file(filled.error(), path));
  drop_draft(draft.release(), !published.ok());
  return published;
}

}  // namespace
}  // namespace warpool::client

using namespace warpool;
using namespace warpool::client;

warpool_status warpool_save(warpool_connection* connection, const char* name, uint64_t version,
                            const char* path, warpool_error* error) {
  if (path == nullptr)
    return report_error(Error::format(Code::kInvalidArgument, "warpool_save needs a path"), error);
  warpool_array* array = nullptr;
  const warpool_status status = warpool_get(connection, name, version, nullptr, &array, error);
  if (status != WARPOOL_OK) return status;
  const Result<void> saved = save(array->view.info, path);
  warpool_array_release(array);
  return saved.ok() ? report_ok(error) : report_error(saved.error(), error);
}

warpool_status warpool_load(warpool_connection* connection, const char* path, const char* name,
                            const warpool_create_options* options, uint64_t* version,
                            warpool_error* error) {
  if (path == nullptr)
    return report_error(Error::format(Code::kInvalidArgument, "warpool_load needs a path"), error);
  const Result<PublishedAs> published = load(*from_handle(connection), path, name, options);
  if (!published.ok()) return report_error(published.error(), error);
  if (version != nullptr) *version = published.value().version;
  return report_ok(error);
}
