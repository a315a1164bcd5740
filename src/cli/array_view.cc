// SPDX-License-Identifier: Apache-2.0
#include "cli/array_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "cli/units.h"
#include "os/clock.h"

namespace warpool::cli {
namespace {

std::span<const warpool_part> parts_of(const warpool_array_info& info) {
  return {info.parts, info.part_count};
}

std::span<const int64_t> shape_of(const warpool_part& part) {
  return {part.shape, part.ndim};
}

std::span<const int64_t> strides_of(const warpool_part& part) {
  return {part.strides, part.ndim};
}

bool owns_bytes(const warpool_part& part) {
  return part.kind != WARPOOL_KIND_STRUCT && part.kind != WARPOOL_KIND_SPARSE;
}

/// Whether strides are compact when the dimensions run as the range of indices says, fastest first. Extents of one do not count.
template <typename Indices>
bool compact(const warpool_part& part, const Indices& fastest_first) {
  auto expected = static_cast<int64_t>(warpool_dtype_size(part.dtype));
  for (const size_t i : fastest_first) {
    if (part.shape[i] != 1 && part.strides[i] != expected) return false;
    expected *= part.shape[i];
  }
  return true;
}

nlohmann::json part_json(const warpool_part& part) {
  nlohmann::json json = {
      {"path", part.path},
      {"kind", kind_name(part.kind)},
      {"dtype", warpool_dtype_name(part.dtype)},
      {"shape", std::vector<int64_t>(shape_of(part).begin(), shape_of(part).end())}};
  if (owns_bytes(part)) {
    json["strides_bytes"] = std::vector<int64_t>(strides_of(part).begin(), strides_of(part).end());
    json["offset_bytes"] = part.offset;
    json["order"] = order_text(part);
  }
  return json;
}

/// The user's attributes as JSON; what is no JSON (an older broker may let it pass) stays text.
nlohmann::json attributes_json(const char* attributes) {
  if (attributes == nullptr || *attributes == '\0') return nlohmann::json::object();
  nlohmann::json parsed = nlohmann::json::parse(attributes, nullptr, false);
  return parsed.is_discarded() ? nlohmann::json(attributes) : parsed;
}

std::string age_text(int64_t created_unix_ns, int64_t now_unix_ns) {
  return format_duration_ms(
      static_cast<uint64_t>(std::max<int64_t>(now_unix_ns - created_unix_ns, 0) / 1'000'000));
}

Table parts_table(const warpool_array_info& info) {
  Table table(
      {{"PART"}, {"KIND"}, {"TYPE"}, {"SHAPE"}, {"ORDER"}, {"OFFSET", Table::Align::kRight}});
  for (const warpool_part& part : parts_of(info)) {
    const bool bytes = owns_bytes(part);
    table.add_row({*part.path == '\0' ? "(root)" : printable(part.path), kind_name(part.kind),
                   part.kind == WARPOOL_KIND_STRUCT ? "" : warpool_dtype_name(part.dtype),
                   part.kind == WARPOOL_KIND_STRUCT ? "" : shape_text(part),
                   bytes ? order_text(part) : "", bytes ? fmt::format("{}", part.offset) : ""});
  }
  return table;
}

}  // namespace

const char* kind_name(uint32_t kind) {
  switch (kind) {
    case WARPOOL_KIND_ARRAY:
      return "array";
    case WARPOOL_KIND_TEXT:
      return "text";
    case WARPOOL_KIND_CHARS:
      return "chars";
    case WARPOOL_KIND_STRUCT:
      return "struct";
    case WARPOOL_KIND_SPARSE:
      return "sparse";
    default:
      return "unknown";
  }
}

std::string shape_text(const warpool_part& part) {
  if (part.ndim == 0) return "scalar";
  return fmt::format("{}", fmt::join(shape_of(part), "x"));
}

std::string type_text(const warpool_array_info& info) {
  if (info.part_count == 0) return "unknown";
  const warpool_part& root = info.parts[0];
  switch (root.kind) {
    case WARPOOL_KIND_ARRAY:
      return warpool_dtype_name(root.dtype);
    case WARPOOL_KIND_SPARSE:
      return fmt::format("sparse {}", warpool_dtype_name(root.dtype));
    case WARPOOL_KIND_STRUCT: {
      const auto fields =
          std::count_if(info.parts, info.parts + info.part_count, [](const warpool_part& part) {
            return *part.path != '\0' &&
                   std::string_view(part.path).find('/') == std::string_view::npos;
          });
      return fmt::format("struct of {}", fields);
    }
    default:
      return kind_name(root.kind);
  }
}

const char* order_text(const warpool_part& part) {
  std::vector<size_t> indices(part.ndim);
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = i;
  const bool empty =
      std::any_of(part.shape, part.shape + part.ndim, [](int64_t extent) { return extent == 0; });
  const bool fortran = compact(part, indices);
  std::reverse(indices.begin(), indices.end());
  const bool c = compact(part, indices);
  if (empty || (c && fortran)) return "both";
  return c ? "C" : fortran ? "F" : "strided";
}

std::string maker_text(const warpool_array_info& info) {
  std::string text = printable(info.maker_language);
  if (*info.maker_label != '\0') text += " " + printable(info.maker_label);
  return text + fmt::format(" (pid {}{})", info.maker_pid, info.maker_alive != 0 ? "" : ", ended");
}

std::string notes_text(const warpool_array_info& info) {
  std::vector<std::string> notes;
  if (info.flags & WARPOOL_ARRAY_INLINE) notes.emplace_back("inline");
  if (info.flags & WARPOOL_ARRAY_REMOVED) notes.emplace_back("removed, still viewed");
  if (info.flags & WARPOOL_ARRAY_WHILE_USED) notes.emplace_back("kept while used");
  return fmt::format("{}", fmt::join(notes, ", "));
}

nlohmann::json array_json(const warpool_array_info& info) {
  nlohmann::json parts = nlohmann::json::array();
  for (const warpool_part& part : parts_of(info))
    parts.push_back(part_json(part));
  nlohmann::json json = {{"name", info.name},
                         {"owner", info.owner},
                         {"owner_uid", info.owner_uid},
                         {"id", info.id},
                         {"version", info.version},
                         {"mode", fmt::format("{:04o}", info.mode)},
                         {"size_bytes", info.size},
                         {"created_unix_ns", info.created_unix_ns},
                         {"expires_in_ms", nullptr},
                         {"viewers", info.viewers},
                         {"inline", (info.flags & WARPOOL_ARRAY_INLINE) != 0},
                         {"removed", (info.flags & WARPOOL_ARRAY_REMOVED) != 0},
                         {"while_used", (info.flags & WARPOOL_ARRAY_WHILE_USED) != 0},
                         {"maker",
                          {{"pid", info.maker_pid},
                           {"alive", info.maker_alive != 0},
                           {"language", info.maker_language},
                           {"label", info.maker_label}}},
                         {"attributes", attributes_json(info.attributes)},
                         {"type", type_text(info)},
                         {"parts", parts}};
  if (info.expires_in_ms >= 0) json["expires_in_ms"] = info.expires_in_ms;
  return json;
}

Table array_table(const warpool_listing* listing, bool with_owner, int64_t now_unix_ns) {
  using enum Table::Align;
  std::vector<Table::Column> columns = {
      {"NAME"}, {"VERSION", kRight}, {"TYPE"},        {"SHAPE"},  {"SIZE", kRight},
      {"MODE"}, {"VIEWERS", kRight}, {"AGE", kRight}, {"MADE BY"}};
  if (with_owner) columns.insert(columns.begin(), {"OWNER"});
  Table table(columns);
  for (size_t i = 0; i < warpool_listing_count(listing); ++i) {
    const warpool_array_info& info = *warpool_listing_get(listing, i);
    const bool removed = (info.flags & WARPOOL_ARRAY_REMOVED) != 0;
    std::vector<Table::Cell> cells = {
        {printable(info.name) + (removed ? " (removed)" : ""),
         removed ? Colour::kDim : Colour::kNone},
        fmt::format("{}", info.version),
        type_text(info),
        info.part_count > 0 && info.parts[0].kind != WARPOOL_KIND_STRUCT ? shape_text(info.parts[0])
                                                                         : "",
        format_bytes(info.size),
        format_mode(info.mode).substr(0, 9),
        fmt::format("{}", info.viewers),
        age_text(info.created_unix_ns, now_unix_ns),
        maker_text(info)};
    if (with_owner) cells.insert(cells.begin(), printable(info.owner));
    table.add_row(std::move(cells));
  }
  return table;
}

std::string array_details(const warpool_array_info& info, const Output& output) {
  Facts facts;
  facts.add("name", printable(info.name));
  facts.add("version", fmt::format("{}", info.version));
  facts.add("owner", fmt::format("{} (uid {})", printable(info.owner), info.owner_uid));
  facts.add("mode", fmt::format("{:04o} {}", info.mode, format_mode(info.mode)));
  facts.add("type", type_text(info));
  if (info.part_count == 1) {
    facts.add("shape", shape_text(info.parts[0]));
    facts.add("order", order_text(info.parts[0]));
  }
  facts.add("size", fmt::format("{} ({} bytes)", format_bytes(info.size), info.size));
  facts.add("published", fmt::format("{} ({} ago)", format_local_time(info.created_unix_ns),
                                     age_text(info.created_unix_ns, unix_now_ns())));
  facts.add("expires", info.expires_in_ms < 0
                           ? "never"
                           : "in " + format_duration_ms(static_cast<uint64_t>(info.expires_in_ms)));
  facts.add("made by", maker_text(info));
  facts.add("viewed by", count_of(info.viewers, "program"));
  if (const std::string notes = notes_text(info); !notes.empty()) facts.add("notes", notes);
  if (info.attributes != nullptr && *info.attributes != '\0')
    facts.add("attributes", printable(info.attributes));
  std::string text = facts.render();
  if (info.part_count > 1) text += "\n" + parts_table(info).render(output);
  return text;
}

int64_t unix_now_ns() {
  return os::unix_ns();
}

}  // namespace warpool::cli
