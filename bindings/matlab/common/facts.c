/* SPDX-License-Identifier: Apache-2.0 */
#include "facts.h"

#include <stdio.h>

#include "layout.h"
#include "session.h"

static const char* const kKindNames[] = {"array", "text", "chars", "struct", "sparse"};

static const char* known(const char* text) {
  return text != NULL ? text : "";
}

static void tell_part(const warpool_part* part, const wpm_sink* sink) {
  double row[WARPOOL_MAX_NDIM];
  const wpm_size size = wpm_matlab_size(part);
  sink->text(sink->context, "kind",
             part->kind <= WARPOOL_KIND_SPARSE ? kKindNames[part->kind] : "unknown");
  const int is_text = part->kind == WARPOOL_KIND_TEXT || part->kind == WARPOOL_KIND_CHARS;
  const int is_struct = part->kind == WARPOOL_KIND_STRUCT;
  sink->text(sink->context, "class",
             is_text     ? "char"
             : is_struct ? "struct"
                         : wpm_class_name(part->dtype));
  sink->text(sink->context, "dtype", warpool_dtype_name(part->dtype));
  for (uint32_t d = 0; d < size.ndim; d++) {
    row[d] = (double)size.extent[d];
  }
  if (part->kind == WARPOOL_KIND_TEXT) {
    row[0] = 1;
    row[1] = (double)part->shape[0];
  }
  sink->row(sink->context, "size", row, size.ndim);
  /* The shape as it was published tells 0-d and 1-d arrays from matrices. */
  for (uint32_t d = 0; d < part->ndim; d++) {
    row[d] = (double)part->shape[d];
  }
  sink->row(sink->context, "shape", row, part->ndim);
  for (uint32_t d = 0; d < part->ndim; d++) {
    row[d] = (double)part->strides[d];
  }
  sink->row(sink->context, "strides", row, part->ndim);
}

static void tell_fields(const warpool_array_info* info, const wpm_sink* sink) {
  const char* paths[WARPOOL_MAX_PARTS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < info->part_count && count < WARPOOL_MAX_PARTS; i++) {
    if (info->parts[i].path[0] != '\0') {
      paths[count++] = info->parts[i].path;
    }
  }
  sink->texts(sink->context, "fields", paths, count);
}

void wpm_tell_item(const warpool_array_info* info, const wpm_sink* sink) {
  static const warpool_part kNoPart = {"",  WARPOOL_KIND_ARRAY, WARPOOL_UINT8, 0, 0, {0}, {0}, 0,
                                       NULL};
  static const warpool_array_info kNothing;
  if (info == NULL) {
    info = &kNothing;
  }
  char mode[16];
  snprintf(mode, sizeof mode, "%04o", (unsigned)(info->mode & 0777u));
  sink->text(sink->context, "name", known(info->name));
  sink->text(sink->context, "owner", known(info->owner));
  sink->number(sink->context, "version", (double)info->version);
  sink->id(sink->context, "id", info->id);
  tell_part(info->part_count > 0 ? &info->parts[0] : &kNoPart, sink);
  tell_fields(info, sink);
  sink->number(sink->context, "bytes", (double)info->size);
  sink->text(sink->context, "mode", mode);
  sink->number(sink->context, "created", (double)info->created_unix_ns / 1e9);
  sink->number(sink->context, "expires_in",
               info->expires_in_ms < 0 ? (double)(1.0f / 0.0f) : (double)info->expires_in_ms / 1e3);
  sink->number(sink->context, "viewers", (double)info->viewers);
  sink->text(sink->context, "attrs", known(info->attributes));
  sink->number(sink->context, "maker_pid", (double)info->maker_pid);
  sink->flag(sink->context, "maker_alive", info->maker_alive != 0);
  sink->text(sink->context, "maker_language", known(info->maker_language));
  sink->text(sink->context, "maker_label", known(info->maker_label));
  sink->flag(sink->context, "inline", (info->flags & WARPOOL_ARRAY_INLINE) != 0);
  sink->flag(sink->context, "removed", (info->flags & WARPOOL_ARRAY_REMOVED) != 0);
}

void wpm_tell_session(const warpool_session_info* info, const wpm_sink* sink) {
  static const warpool_session_info kNothing;
  char field[64];
  if (info == NULL) {
    info = &kNothing;
  }
  sink->number(sink->context, "pid", (double)info->pid);
  sink->number(sink->context, "session", (double)info->session);
  sink->number(sink->context, "uid", (double)info->uid);
  sink->text(sink->context, "user", known(info->user));
  sink->flag(sink->context, "alive", info->alive != 0);
  sink->text(sink->context, "language", known(info->language));
  sink->text(sink->context, "label", known(info->label));
  sink->text(sink->context, "command", known(info->command));
  sink->text(sink->context, "container", known(info->container));
  sink->text(sink->context, "waiting_for", known(info->waiting_for));
  sink->number(sink->context, "connected", (double)info->connected_ms / 1e3);
  sink->number(sink->context, "idle", (double)info->idle_ms / 1e3);
  sink->number(sink->context, "memory_drafts", (double)info->memory_drafts);
  sink->number(sink->context, "memory_spare", (double)info->memory_spare);
  sink->number(sink->context, "memory_published", (double)info->memory_published);
  sink->number(sink->context, "arrays_published", (double)info->arrays_published);
  sink->number(sink->context, "arrays_got", (double)info->arrays_got);
  sink->number(sink->context, "bytes_published", (double)info->bytes_published);
  sink->number(sink->context, "bytes_got", (double)info->bytes_got);
  sink->number(sink->context, "bytes_shared", (double)info->bytes_shared);
  for (uint32_t r = 0; r < WARPOOL_COPY_REASONS; r++) {
    snprintf(field, sizeof field, "copies_%s", warpool_copy_reason_name(r));
    sink->number(sink->context, field, (double)info->copies[r]);
    snprintf(field, sizeof field, "copied_bytes_%s", warpool_copy_reason_name(r));
    sink->number(sink->context, field, (double)info->copied_bytes[r]);
  }
  sink->number(sink->context, "waits", (double)info->waits);
  sink->number(sink->context, "waited", (double)info->waited_ms / 1e3);
}

void wpm_tell_broker(const warpool_broker_info* info, const wpm_sink* sink) {
  sink->text(sink->context, "socket", info->socket_path);
  sink->text(sink->context, "version", info->broker_version);
  sink->number(sink->context, "protocol", (double)info->protocol);
  sink->number(sink->context, "pid", (double)info->broker_pid);
  sink->number(sink->context, "keeper_pid", (double)info->keeper_pid);
  sink->flag(sink->context, "private", info->is_private != 0);
  sink->number(sink->context, "uptime", (double)info->uptime_ms / 1e3);
  sink->number(sink->context, "restarts", (double)info->restarts);
  sink->number(sink->context, "session", (double)info->session);
  sink->number(sink->context, "sessions", (double)info->sessions);
  sink->number(sink->context, "arrays", (double)info->arrays);
  sink->number(sink->context, "lost", (double)info->lost);
  sink->number(sink->context, "memory_limit", (double)info->memory_limit);
  sink->number(sink->context, "memory_used", (double)info->memory_used);
  sink->number(sink->context, "memory_published", (double)info->memory_published);
  sink->number(sink->context, "memory_drafts", (double)info->memory_drafts);
  sink->number(sink->context, "memory_spare", (double)info->memory_spare);
  sink->number(sink->context, "memory_viewed", (double)info->memory_viewed);
}

void wpm_tell_event(const warpool_event* event, const wpm_sink* sink) {
  sink->text(sink->context, "kind", wpm_event_name(event->kind));
  sink->text(sink->context, "name", event->name);
  sink->number(sink->context, "version", (double)event->version);
  sink->number(sink->context, "owner_uid", (double)event->owner_uid);
}
