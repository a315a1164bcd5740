// SPDX-License-Identifier: Apache-2.0
#include "catalogue.h"

#include "array.h"
#include "failure.h"
#include "fetch.h"
#include "gil.h"

namespace nb = nanobind;

namespace warpool::python {
namespace {

nb::object parts_tuple(const warpool_array_info& info) {
  nb::list parts;
  for (uint32_t i = 0; i < info.part_count; ++i) {
    const warpool_part& part = info.parts[i];
    parts.append(nb::make_tuple(part.path, part.kind, warpool_dtype_name(part.dtype),
                                number_tuple(part.shape, part.ndim),
                                number_tuple(part.strides, part.ndim)));
  }
  return nb::tuple(parts);
}

nb::object info_tuple(const warpool_array_info& info) {
  constexpr double kNanosecondsPerSecond = 1e9;
  constexpr double kMillisecondsPerSecond = 1e3;
  nb::object expires = nb::none();
  if (info.expires_in_ms >= 0)
    expires = nb::float_(static_cast<double>(info.expires_in_ms) / kMillisecondsPerSecond);
  return nb::make_tuple(
      text(info.name), text(info.owner), info.owner_uid, info.version, info.id, info.size,
      info.mode, static_cast<double>(info.created_unix_ns) / kNanosecondsPerSecond, expires,
      info.viewers, parts_tuple(info), text(info.attributes), info.maker_pid, info.maker_alive != 0,
      text(info.maker_language), text(info.maker_label), info.flags);
}

nb::object copies_dict(const warpool_session_info& info) {
  nb::dict copies;
  for (uint32_t reason = 0; reason < WARPOOL_COPY_REASONS; ++reason) {
    if (info.copies[reason] == 0) continue;
    nb::dict entry;
    entry["count"] = info.copies[reason];
    entry["bytes"] = info.copied_bytes[reason];
    copies[warpool_copy_reason_name(reason)] = entry;
  }
  return copies;
}

nb::object session_dict(const warpool_session_info& info) {
  nb::dict result;
  result["session"] = info.session;
  result["pid"] = info.pid;
  result["uid"] = info.uid;
  result["user"] = text(info.user);
  result["alive"] = info.alive != 0;
  result["language"] = text(info.language);
  result["label"] = text(info.label);
  result["command"] = text(info.command);
  result["container"] = text(info.container);
  result["waiting_for"] = text(info.waiting_for);
  result["connected_ms"] = info.connected_ms;
  result["idle_ms"] = info.idle_ms;
  result["memory_drafts"] = info.memory_drafts;
  result["memory_spare"] = info.memory_spare;
  result["memory_published"] = info.memory_published;
  result["arrays_published"] = info.arrays_published;
  result["arrays_got"] = info.arrays_got;
  result["bytes_published"] = info.bytes_published;
  result["bytes_got"] = info.bytes_got;
  result["bytes_shared"] = info.bytes_shared;
  result["copies"] = copies_dict(info);
  result["waits"] = info.waits;
  result["waited_ms"] = info.waited_ms;
  return result;
}

}  // namespace

nb::object list_items(const Session& session, nb::handle pattern, uint32_t flags) {
  const HandleRef handle = session.handle();
  const std::string text = pattern.is_none() ? "" : text_argument(pattern, "pattern");
  const char* pattern_or_null = pattern.is_none() ? nullptr : text.c_str();
  const auto listing = fetch<warpool_listing>(
      *handle, warpool_listing_free, [&](warpool_listing** out, warpool_error* error) {
        return warpool_list(handle->get(), pattern_or_null, flags, out, error);
      });
  nb::list items;
  const size_t count = warpool_listing_count(listing.get());
  for (size_t i = 0; i < count; ++i)
    items.append(info_tuple(*warpool_listing_get(listing.get(), i)));
  return items;
}

nb::object stat_item(const Session& session, nb::handle name, uint64_t version) {
  const HandleRef handle = session.handle();
  const std::string text = text_argument(name, "name");
  const auto listing = fetch<warpool_listing>(
      *handle, warpool_listing_free, [&](warpool_listing** out, warpool_error* error) {
        return warpool_stat(handle->get(), text.c_str(), version, out, error);
      });
  return info_tuple(*warpool_listing_get(listing.get(), 0));
}

nb::object list_sessions(const Session& session, nb::handle run) {
  const HandleRef handle = session.handle();
  const std::string text = run.is_none() ? "" : text_argument(run, "run");
  const char* run_or_null = run.is_none() ? nullptr : text.c_str();
  const auto sessions = fetch<warpool_sessions>(
      *handle, warpool_sessions_free, [&](warpool_sessions** out, warpool_error* error) {
        return warpool_list_sessions(handle->get(), run_or_null, out, error);
      });
  nb::list result;
  const size_t count = warpool_sessions_count(sessions.get());
  for (size_t i = 0; i < count; ++i)
    result.append(session_dict(*warpool_sessions_get(sessions.get(), i)));
  return result;
}

nb::object broker_info(const Session& session) {
  const HandleRef handle = session.handle();
  warpool_broker_info info{};
  info.struct_size = sizeof(info);
  warpool_error error{};
  warpool_status status = WARPOOL_OK;
  {
    const Unlocked unlocked;
    status = warpool_get_broker_info(handle->get(), &info, &error);
  }
  check_call(*handle, status, error);
  nb::dict result;
  result["socket"] = text(info.socket_path);
  result["broker_version"] = text(info.broker_version);
  result["protocol"] = info.protocol;
  result["epoch"] = info.epoch;
  result["session"] = info.session;
  result["broker_pid"] = info.broker_pid;
  result["keeper_pid"] = info.keeper_pid;
  result["restarts"] = info.restarts;
  result["private"] = info.is_private != 0;
  result["uptime_ms"] = info.uptime_ms;
  result["arrays"] = info.arrays;
  result["sessions"] = info.sessions;
  result["lost"] = info.lost;
  result["memory_limit"] = info.memory_limit;
  result["memory_used"] = info.memory_used;
  result["memory_published"] = info.memory_published;
  result["memory_drafts"] = info.memory_drafts;
  result["memory_spare"] = info.memory_spare;
  result["memory_viewed"] = info.memory_viewed;
  return result;
}

}  // namespace warpool::python
