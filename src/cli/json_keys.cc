// SPDX-License-Identifier: Apache-2.0
#include "cli/json_keys.h"

#include <array>
#include <string_view>

namespace warpool::cli {
namespace {

struct Keys {
  std::string_view command;
  std::string_view text;
};

constexpr std::string_view kTotals =
    "programs, arrays_published, arrays_got, published_bytes, got_bytes, shared_bytes, "
    "copied_bytes, copies (object: reason to "
    "{count, bytes}); or unknown (why the broker could not be asked)";

constexpr std::array kKeys = {
    Keys{"ls", "arrays (list of objects as printed by info), count, size_bytes."},
    Keys{"info",
         "name, owner, owner_uid, id, version, mode, size_bytes, created_unix_ns, expires_in_ms "
         "(null: never), viewers, inline, "
         "removed, while_used, maker {pid, alive, language, label}, attributes (object), type, "
         "parts (list of {path, kind, dtype, "
         "shape, strides_bytes, offset_bytes, order})."},
    Keys{"watch",
         "one object a line: event (published, removed, overflow), name, version, owner_uid, "
         "unix_ns."},
    Keys{"rm", "done (list of {name}), failed (list of {name, message, exit_code})."},
    Keys{"chmod", "done (list of {name, mode}), failed (list of {name, message, exit_code})."},
    Keys{"expire",
         "done (list of {name, expires_in_ms}), failed (list of {name, message, exit_code})."},
    Keys{"save", "name, file."},
    Keys{"load", "name, version, file."},
    Keys{"up", "as status, and started (false if a broker ran already)."},
    Keys{"down", "stopped."},
    Keys{"status",
         "running, socket, version, protocol, epoch, pid, keeper_pid, private, uptime_ms, "
         "restarts, lost_arrays, arrays, programs, "
         "memory {limit_bytes, used_bytes, published_bytes, drafts_bytes, spare_bytes, "
         "viewed_bytes}; without a broker: running "
         "(false), message."},
    Keys{"ps",
         "programs (list of {session, pid, uid, user, alive, language, label, command, container, "
         "waiting_for, connected_ms, idle_ms, "
         "waits, waited_ms, arrays_published, arrays_got, published_bytes, got_bytes, "
         "shared_bytes, copied_bytes, copies, memory "
         "{published_bytes, drafts_bytes, spare_bytes}}), count."},
    Keys{"doctor",
         "works, checks (list of {check, verdict (ok, note, warning, failed), what, remedy})."},
    Keys{"version", "version, library_version; with a broker: broker_version, protocol."},
};

}  // namespace

std::string json_keys_of(const std::string& command) {
  if (command == "run")
    return "the last line of standard error: run, exit_code, elapsed_ms, peak_memory_bytes, " +
           std::string(kTotals) + ".";
  if (command == "pipeline")
    return "stages (list of {name, label, status (ok, failed, stopped, skipped), exit_status, "
           "signal, message, elapsed_ms, "
           "peak_memory_bytes, " +
           std::string(kTotals) +
           "}), ended_by (ok, stage_failed, interrupted, terminated), exit_code, elapsed_ms. With "
           "--dry-run: stages (list of {name, label, "
           "wave, command, env, dir, depends}).";
  for (const Keys& keys : kKeys) {
    if (keys.command == command) return std::string(keys.text);
  }
  return "";
}

}  // namespace warpool::cli
