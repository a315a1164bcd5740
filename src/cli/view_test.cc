// SPDX-License-Identifier: Apache-2.0
// How arrays, programs and runs are shown.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/array_view.h"
#include "cli/pipeline_view.h"
#include "cli/program_view.h"
#include "cli/run_totals.h"

namespace warpool::cli {
namespace {

warpool_part part_of(uint32_t dtype, const std::vector<int64_t>& shape,
                     uint32_t order = WARPOOL_ORDER_C) {
  warpool_part part{};
  EXPECT_EQ(warpool_part_init(&part, dtype, static_cast<uint32_t>(shape.size()), shape.data(),
                              order, nullptr),
            WARPOOL_OK);
  return part;
}

warpool_array_info info_of(const std::vector<warpool_part>& parts) {
  warpool_array_info info{};
  info.struct_size = sizeof info;
  info.name = "lab/x";
  info.owner = "ann";
  info.id = (uint64_t{7} << 32) + 1;
  info.version = 3;
  info.owner_uid = 1000;
  info.mode = 0640;
  info.size = 64;
  info.created_unix_ns = 1'700'000'000'000'000'000;
  info.expires_in_ms = -1;
  info.part_count = static_cast<uint32_t>(parts.size());
  info.parts = parts.data();
  info.attributes = "";
  info.maker_pid = 71;
  info.maker_language = "python";
  info.maker_label = "";
  return info;
}

TEST(ArrayView, Shapes) {
  EXPECT_EQ(shape_text(part_of(WARPOOL_FLOAT64, {})), "scalar");
  EXPECT_EQ(shape_text(part_of(WARPOOL_FLOAT64, {0, 3})), "0x3");
  EXPECT_EQ(shape_text(part_of(WARPOOL_FLOAT64, {1000, 784})), "1000x784");
}

TEST(ArrayView, Orders) {
  EXPECT_STREQ(order_text(part_of(WARPOOL_FLOAT64, {2, 3})), "C");
  EXPECT_STREQ(order_text(part_of(WARPOOL_FLOAT64, {2, 3}, WARPOOL_ORDER_F)), "F");
  EXPECT_STREQ(order_text(part_of(WARPOOL_FLOAT64, {5})), "both");
  EXPECT_STREQ(order_text(part_of(WARPOOL_FLOAT64, {1, 5}, WARPOOL_ORDER_F)), "both");
  EXPECT_STREQ(order_text(part_of(WARPOOL_FLOAT64, {0, 3})), "both");
  EXPECT_STREQ(order_text(part_of(WARPOOL_FLOAT64, {})), "both");
  warpool_part strided = part_of(WARPOOL_FLOAT64, {2, 3, 4});
  std::swap(strided.strides[0], strided.strides[1]);
  EXPECT_STREQ(order_text(strided), "strided");
}

TEST(ArrayView, Types) {
  EXPECT_EQ(type_text(info_of({part_of(WARPOOL_COMPLEX64, {2})})), "complex64");
  std::vector<warpool_part> parts(4);
  parts[0].kind = WARPOOL_KIND_STRUCT;
  parts[0].path = "";
  parts[1].path = "a";
  parts[2].path = "b";
  parts[2].kind = WARPOOL_KIND_STRUCT;
  parts[3].path = "b/c";
  EXPECT_EQ(type_text(info_of(parts)), "struct of 2");
  parts[0].kind = WARPOOL_KIND_SPARSE;
  parts[0].dtype = WARPOOL_FLOAT32;
  EXPECT_EQ(type_text(info_of(parts)), "sparse float32");
}

TEST(ArrayView, JsonHasIntegersAndNull) {
  const std::vector<warpool_part> parts = {part_of(WARPOOL_FLOAT64, {2, 4})};
  warpool_array_info info = info_of(parts);
  nlohmann::json json = array_json(info);
  EXPECT_TRUE(json["expires_in_ms"].is_null());
  EXPECT_EQ(json["id"], 30064771073u);
  EXPECT_EQ(json["mode"], "0640");
  EXPECT_EQ(json["attributes"], nlohmann::json::object());
  EXPECT_EQ(json["parts"][0]["strides_bytes"], (std::vector<int64_t>{32, 8}));
  info.expires_in_ms = 5;
  info.attributes = R"({"unit": "mV"})";
  json = array_json(info);
  EXPECT_EQ(json["expires_in_ms"], 5);
  EXPECT_EQ(json["attributes"]["unit"], "mV");
}

TEST(ArrayView, AttributesThatAreNoJsonStayText) {
  const std::vector<warpool_part> parts = {part_of(WARPOOL_FLOAT64, {2})};
  warpool_array_info info = info_of(parts);
  info.attributes = "{broken";
  EXPECT_EQ(array_json(info)["attributes"], "{broken");
}

TEST(ArrayView, LabelsOfOthersCannotSteerTheTerminal) {
  const std::vector<warpool_part> parts = {part_of(WARPOOL_FLOAT64, {2})};
  warpool_array_info info = info_of(parts);
  info.maker_label = "\x1b[2J";
  EXPECT_EQ(maker_text(info), "python \\x1b[2J (pid 71, ended)");
}

warpool_session_info session_with(uint64_t put, uint64_t small) {
  warpool_session_info session{};
  session.bytes_published = 100;
  session.bytes_got = 50;
  session.bytes_shared = 2048;
  session.copies[WARPOOL_COPY_PUT] = put;
  session.copied_bytes[WARPOOL_COPY_PUT] = put * 1024;
  session.copies[WARPOOL_COPY_INLINE] = small;
  session.copied_bytes[WARPOOL_COPY_INLINE] = small * 10;
  return session;
}

TEST(RunTotalsTest, AddsUpAndSaysWhy) {
  RunTotals totals;
  totals.add(session_with(0, 0));
  EXPECT_EQ(describe_sharing(totals), "shared 2 KiB, no copies");
  EXPECT_EQ(copied_text(totals), "none");
  totals.add(session_with(1, 3));
  EXPECT_EQ(describe_sharing(totals),
            "shared 4 KiB, copied 1.03 KiB (put 1 KiB in 1 copy, inline 30 B in 3 copies)");
  const nlohmann::json json = totals_json(totals);
  EXPECT_EQ(json["programs"], 2);
  EXPECT_EQ(json["shared_bytes"], 4096);
  EXPECT_EQ(json["copied_bytes"], 1054);
  EXPECT_EQ(json["copies"], (nlohmann::json{{"put", {{"count", 1}, {"bytes", 1024}}},
                                            {"inline", {{"count", 3}, {"bytes", 30}}}}));
}

TEST(RunTotalsTest, UnknownIsSaid) {
  RunTotals totals;
  totals.unknown = "the broker was lost";
  EXPECT_EQ(describe_sharing(totals), "sharing unknown (the broker was lost)");
  EXPECT_EQ(totals_json(totals), (nlohmann::json{{"unknown", "the broker was lost"}}));
}

TEST(ProgramView, States) {
  warpool_session_info session{};
  session.waiting_for = "";
  EXPECT_EQ(program_state(session), "active");
  session.idle_ms = 90'000;
  EXPECT_EQ(program_state(session), "idle 1 min 30 s");
  session.waiting_for = "lab/x";
  EXPECT_EQ(program_state(session), "waits for lab/x");
}

TEST(PipelineView, StatusTexts) {
  StageReport stage;
  stage.state = StageState::kFailed;
  stage.end.exit_status = 3;
  EXPECT_EQ(status_text(stage), "failed (exit status 3)");
  stage.end.signal_number = 11;
  EXPECT_EQ(status_text(stage), "failed (signal 11, Segmentation fault)");
  stage.end.could_not_start = true;
  EXPECT_EQ(status_text(stage), "failed (could not start)");
  stage.state = StageState::kSkipped;
  EXPECT_EQ(status_text(stage), "skipped");
}

}  // namespace
}  // namespace warpool::cli
