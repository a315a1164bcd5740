// SPDX-License-Identifier: Apache-2.0
// Every function of the C interface.
#include <algorithm>
#include <atomic>

#include "fixture.h"

namespace warpool::inprocess {
namespace {

TEST(Arrays, EverySizeComesBackAligned) {
  Broker broker;
  Program maker(broker);
  Program reader(broker);
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{8192}, std::size_t{8193}, kLarge, kHuge}) {
    SCOPED_TRACE(count);
    Error error;
    EXPECT_OK(put(maker, "x", count, 5, error.out()), error);
    const Array array = get(reader, "x");
    ASSERT_NE(array, nullptr);
    const warpool_array_info& info = *warpool_array_get_info(array.get());
    EXPECT_EQ(info.size, count * 8);
    EXPECT_EQ((info.flags & WARPOOL_ARRAY_INLINE) != 0, count <= 8192);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(info.data) % WARPOOL_ALIGNMENT, 0u);
    ASSERT_EQ(info.part_count, 1u);
    EXPECT_EQ(info.parts[0].data, info.data);
    const std::vector<double> expected = ramp(count, 5);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), values_of(array)));
  }
}

TEST(Arrays, ListingOfRemovedButViewedItemsHasAllOfThem) {
  Broker broker;
  Program program(broker);
  Error error;
  // Far more than a page of a listing holds.
  constexpr std::size_t kVersions = 400;
  std::vector<Array> viewed;
  for (std::size_t i = 0; i < kVersions; ++i) {
    EXPECT_OK(put(program, "x", kLarge, 1, error.out()), error);
    viewed.push_back(get(program, "x"));
    ASSERT_NE(viewed.back(), nullptr);
  }
  warpool_listing* listing = nullptr;
  EXPECT_OK(warpool_list(program, "x", WARPOOL_LIST_REMOVED, &listing, error.out()), error);
  EXPECT_EQ(warpool_listing_count(listing), kVersions);
  std::vector<std::uint64_t> versions;
  for (std::size_t i = 0; i < warpool_listing_count(listing); ++i)
    versions.push_back(warpool_listing_get(listing, i)->version);
  std::sort(versions.begin(), versions.end());
  for (std::size_t i = 0; i < versions.size(); ++i)
    EXPECT_EQ(versions[i], i + 1);
  warpool_listing_free(listing);
}

TEST(Arrays, InfoTellsWhatItIs) {
  Broker broker;
  Program maker(broker, "prep");
  warpool_create_options options = WARPOOL_CREATE_OPTIONS_INIT;
  options.mode = 0644;
  options.ttl_ms = 60'000;
  options.attributes = "{\"unit\": \"mV\"}";
  Error error;
  EXPECT_OK(put(maker, "lab/x", kLarge, 1, error.out(), &options), error);
  EXPECT_OK(put(maker, "lab/x", kLarge, 2, error.out(), &options), error);
  const Array array = get(maker, "lab/x");
  const warpool_array_info& info = *warpool_array_get_info(array.get());
  EXPECT_STREQ(info.name, "lab/x");
  EXPECT_EQ(info.version, 2u);
  EXPECT_EQ(info.mode, 0644u);
  EXPECT_EQ(info.viewers, 1u);
  EXPECT_GT(info.expires_in_ms, 0);
  EXPECT_LE(info.expires_in_ms, 60'000);
  EXPECT_STREQ(info.attributes, "{\"unit\": \"mV\"}");
  EXPECT_STREQ(info.maker_label, "prep");
  EXPECT_STREQ(info.maker_language, "c");
  EXPECT_EQ(info.maker_pid, ::getpid());
  EXPECT_EQ(info.maker_alive, 1u);
  EXPECT_EQ(info.owner_uid, ::geteuid());
  warpool_array_retain(array.get());
  warpool_array_release(array.get());
  EXPECT_EQ(values_of(array)[0], 2);
}

TEST(Arrays, StridedSourcesAreCopiedInOrder) {
  Broker broker;
  Program program(broker);
  const std::vector<double> values = ramp(6, 0);
  const std::int64_t shape[] = {2, 3};
  warpool_part part;
  ASSERT_EQ(warpool_part_init(&part, WARPOOL_FLOAT64, 2, shape, WARPOOL_ORDER_F, nullptr),
            WARPOOL_OK);
  part.data = values.data();
  Error error;
  EXPECT_OK(warpool_put(program, "f", &part, 1, nullptr, nullptr, error.out()), error);
  const Array column_major = get(program, "f");
  EXPECT_EQ(warpool_array_get_info(column_major.get())->parts[0].strides[1], 16);
  // Reversed along both dimensions.
  part.data = values.data() + 5;
  part.strides[0] = -8;
  part.strides[1] = -16;
  EXPECT_OK(warpool_put(program, "r", &part, 1, nullptr, nullptr, error.out()), error);
  const Array reversed = get(program, "r");
  const double expected[] = {5, 3, 1, 4, 2, 0};
  EXPECT_EQ(std::memcmp(values_of(reversed), expected, sizeof expected), 0);
}

TEST(Arrays, StructsAndSparseMatricesKeepTheirParts) {
  Broker broker;
  Program program(broker);
  const std::vector<double> values = ramp(3, 1);
  const std::int64_t rows[] = {0, 1, 0};
  const std::int64_t starts[] = {0, 2, 3};
  std::vector<warpool_part> parts(5);
  const std::int64_t shape[] = {3, 2};
  parts[0].path = "";
  parts[0].kind = WARPOOL_KIND_STRUCT;
  parts[0].dtype = WARPOOL_UINT8;
  ASSERT_EQ(warpool_part_init(&parts[1], WARPOOL_FLOAT64, 2, shape, WARPOOL_ORDER_C, nullptr),
            WARPOOL_OK);
  parts[1].path = "m";
  parts[1].kind = WARPOOL_KIND_SPARSE;
  parts[2] = doubles(3, values.data());
  parts[2].path = "m/data";
  const std::int64_t three = 3;
  for (int i = 3; i < 5; ++i)
    ASSERT_EQ(warpool_part_init(&parts[static_cast<std::size_t>(i)], WARPOOL_INT64, 1, &three,
                                WARPOOL_ORDER_C, nullptr),
              WARPOOL_OK);
  parts[3].path = "m/indices";
  parts[3].data = rows;
  parts[4].path = "m/indptr";
  parts[4].data = starts;
  Error error;
  EXPECT_OK(warpool_put(program, "s", parts.data(), 5, nullptr, nullptr, error.out()), error);
  const Array array = get(program, "s");
  const warpool_array_info& info = *warpool_array_get_info(array.get());
  ASSERT_EQ(info.part_count, 5u);
  EXPECT_EQ(info.parts[1].data, nullptr);
  EXPECT_STREQ(info.parts[4].path, "m/indptr");
  EXPECT_EQ(static_cast<const std::int64_t*>(info.parts[4].data)[1], 2);
  parts[1].shape[0] = parts[1].shape[1] = 10'000'000;  // a large graph: no amount of memory
  const std::int64_t two = 2;
  parts[1].shape[1] = two;
  EXPECT_OK(warpool_put(program, "s", parts.data(), 5, nullptr, nullptr, error.out()), error);
  parts[4].shape[0] = 2;
  EXPECT_EQ(warpool_put(program, "s", parts.data(), 5, nullptr, nullptr, error.out()),
            WARPOOL_INVALID_ARGUMENT);
}

TEST(Drafts, FilledInPlaceAndSealed) {
  for (const std::size_t count : {kSmall, kLarge}) {
    SCOPED_TRACE(count);
    Broker broker;
    Program maker(broker);
    Program reader(broker);
    const warpool_part part = doubles(static_cast<std::int64_t>(count));
    warpool_draft* draft = nullptr;
    Error error;
    ASSERT_EQ(warpool_create(maker, "x", &part, 1, nullptr, &draft, error.out()), WARPOOL_OK)
        << error.text();
    auto* view = static_cast<double*>(warpool_draft_data(draft, 0));
    EXPECT_EQ(warpool_draft_data(draft, 1), nullptr);
    EXPECT_EQ(view[count - 1], 0);
    view[0] = 42;
    warpool_memory* memory = warpool_draft_retain_memory(draft);
    warpool_array* array = nullptr;
    std::uint64_t version = 0;
    EXPECT_OK(warpool_publish(draft, &array, &version, error.out()), error);
    EXPECT_EQ(version, 1u);
    const Array own(array);
    view[0] = 43;  // after publishing: seen here only
    EXPECT_EQ(values_of(own)[0], 42);
    EXPECT_EQ(values_of(get(reader, "x"))[0], 42);
    EXPECT_EQ(view[0], 43);
    warpool_memory_release(memory);
  }
}

TEST(Drafts, DiscardedOnesGiveTheirMemoryBack) {
  Broker broker;
  Program program(broker);
  const warpool_part part = doubles(kLarge);
  warpool_draft* draft = nullptr;
  Error error;
  EXPECT_OK(warpool_create(program, "x", &part, 1, nullptr, &draft, error.out()), error);
  EXPECT_GT(program.info().memory_drafts, 0u);
  warpool_discard(draft);
  warpool_discard(nullptr);
  EXPECT_EQ(program.info().memory_drafts, 0u);
  EXPECT_EQ(program.info().arrays, 0u);
}

TEST(Drafts, WhatCannotBeCreatedIsExplained) {
  Broker broker(8 << 20);
  Program program(broker);
  warpool_part part = doubles(2 << 20);
  warpool_draft* draft = nullptr;
  Error error;
  EXPECT_EQ(warpool_create(program, "x", &part, 1, nullptr, &draft, error.out()),
            WARPOOL_OUT_OF_MEMORY);
  EXPECT_TRUE(error.says("can never fit"));
  part = doubles(kLarge);
  part.strides[0] = 16;
  EXPECT_EQ(warpool_create(program, "x", &part, 1, nullptr, &draft, error.out()),
            WARPOOL_INVALID_ARGUMENT);
  part = doubles(kLarge);
  EXPECT_EQ(warpool_create(program, "bad name", &part, 1, nullptr, &draft, error.out()),
            WARPOOL_INVALID_ARGUMENT);
  EXPECT_EQ(warpool_create(program, "x", &part, 0, nullptr, &draft, error.out()),
            WARPOOL_INVALID_ARGUMENT);
  EXPECT_EQ(warpool_create(program, nullptr, &part, 1, nullptr, &draft, error.out()),
            WARPOOL_INVALID_ARGUMENT);
  part.dtype = 99;
  EXPECT_EQ(warpool_create(program, "x", &part, 1, nullptr, &draft, error.out()),
            WARPOOL_INVALID_ARGUMENT);
  EXPECT_EQ(program.info().memory_used, 0u);
}

TEST(Drafts, WaitForRoomInTheBudget) {
  Broker broker(8 << 20);
  Program holder(broker);
  Program waiter(broker);
  Error error;
  EXPECT_OK(put(holder, "x", 6 << 17, 1, error.out()), error);
  warpool_create_options options = WARPOOL_CREATE_OPTIONS_INIT;
  warpool_wait wait = wait_ms(50);
  options.wait = &wait;
  const warpool_part part = doubles(6 << 17);
  warpool_draft* draft = nullptr;
  EXPECT_EQ(warpool_create(waiter, "y", &part, 1, &options, &draft, error.out()),
            WARPOOL_TIMED_OUT);
  EXPECT_TRUE(error.says("MiB by c")) << error.text();
  wait = wait_ms(20'000);
  std::thread free([&] {
    ::usleep(50'000);
    EXPECT_EQ(warpool_remove(holder, "x", 0, nullptr), WARPOOL_OK);
  });
  EXPECT_OK(warpool_create(waiter, "y", &part, 1, &options, &draft, error.out()), error);
  free.join();
  warpool_discard(draft);
}

TEST(CopyOnWrite, IsPrivateAndMadeOnce) {
  Broker broker;
  Program program(broker);
  for (const std::size_t count : {kSmall, kLarge}) {
    EXPECT_EQ(put(program, "x", count, 3), WARPOOL_OK);
    const Array array = get(program, "x");
    void* copy = nullptr;
    void* again = nullptr;
    Error error;
    EXPECT_OK(warpool_array_copy_on_write(array.get(), &copy, error.out()), error);
    EXPECT_OK(warpool_array_copy_on_write(array.get(), &again, error.out()), error);
    EXPECT_EQ(copy, again);
    static_cast<double*>(copy)[0] = 99;
    EXPECT_EQ(values_of(array)[0], 3);
    EXPECT_EQ(values_of(get(program, "x"))[0], 3);
  }
}

TEST(Names, RemoveChmodExpireListStat) {
  Broker broker;
  Program program(broker);
  Error error;
  for (const char* name : {"b", "a/1", "a/2"})
    EXPECT_OK(put(program, name, kSmall, 0, error.out()), error);
  warpool_listing* listing = nullptr;
  EXPECT_OK(warpool_list(program, "a/*", 0, &listing, error.out()), error);
  ASSERT_EQ(warpool_listing_count(listing), 2u);
  EXPECT_STREQ(warpool_listing_get(listing, 1)->name, "a/2");
  EXPECT_EQ(warpool_listing_get(listing, 1)->data, nullptr);
  EXPECT_EQ(warpool_listing_get(listing, 2), nullptr);
  warpool_listing_free(listing);
  EXPECT_OK(warpool_chmod(program, "b", 0644, error.out()), error);
  EXPECT_EQ(warpool_chmod(program, "b", 0777, error.out()), WARPOOL_INVALID_ARGUMENT);
  EXPECT_OK(warpool_expire(program, "b", 100'000, error.out()), error);
  EXPECT_OK(warpool_stat(program, "b", 1, &listing, error.out()), error);
  EXPECT_EQ(warpool_listing_get(listing, 0)->mode, 0644u);
  EXPECT_GT(warpool_listing_get(listing, 0)->expires_in_ms, 0);
  warpool_listing_free(listing);
  EXPECT_EQ(warpool_stat(program, "b", 2, &listing, error.out()), WARPOOL_NOT_FOUND);
  EXPECT_OK(warpool_expire(program, "b", 1, error.out()), error);
  ::usleep(20'000);
  EXPECT_EQ(warpool_remove(program, "b", 0, error.out()), WARPOOL_NOT_FOUND) << "it has expired";
  EXPECT_OK(warpool_remove(program, "a/1", 0, error.out()), error);
  EXPECT_EQ(program.info().arrays, 1u);
}

TEST(Watches, TellEventsInOrderAndTimeOut) {
  Broker broker;
  Program maker(broker);
  Program reader(broker);
  EXPECT_EQ(put(maker, "old", kSmall, 0), WARPOOL_OK);
  warpool_watch* watch = nullptr;
  Error error;
  ASSERT_EQ(warpool_watch_open(reader, "*", 0, 1, &watch, error.out()), WARPOOL_OK);
  EXPECT_EQ(put(maker, "new", kSmall, 0), WARPOOL_OK);
  EXPECT_EQ(warpool_remove(maker, "old", 0, nullptr), WARPOOL_OK);
  const warpool_wait wait = wait_ms(20'000);
  warpool_event event{};
  std::string seen;
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(warpool_watch_next(watch, &wait, &event, error.out()), error);
    seen += std::string(event.kind == WARPOOL_EVENT_PUBLISHED ? "P " : "R ") + event.name + " ";
  }
  EXPECT_EQ(seen, "P old P new R old ");
  const warpool_wait shortly = wait_ms(10);
  EXPECT_EQ(warpool_watch_next(watch, &shortly, &event, error.out()), WARPOOL_TIMED_OUT);
  warpool_watch_close(watch);
  warpool_watch_close(nullptr);
}

TEST(Watches, AskingWithoutWaitingStillLooks) {
  Broker broker;
  Program maker(broker);
  Program reader(broker);
  warpool_watch* watch = nullptr;
  Error error;
  ASSERT_EQ(warpool_watch_open(reader, "*", 0, 0, &watch, error.out()), WARPOOL_OK);
  EXPECT_EQ(put(maker, "x", kSmall, 0), WARPOOL_OK);
  warpool_event event{};
  warpool_status status = WARPOOL_TIMED_OUT;
  // No other call of the reader receives anything for it.
  for (int i = 0; i < 10'000 && status == WARPOOL_TIMED_OUT; ++i)
    status = warpool_watch_next(watch, nullptr, &event, error.out());
  EXPECT_OK(status, error);
  EXPECT_STREQ(event.name, "x");
  warpool_watch_close(watch);
}

TEST(Sessions, AreListedWithTheirCounters) {
  Broker broker;
  Program maker(broker, "one");
  Program reader(broker, "two");
  EXPECT_EQ(put(maker, "x", kLarge, 0), WARPOOL_OK);
  (void)get(reader, "x");
  warpool_count_copy(reader, WARPOOL_COPY_CONVERT, 123);
  warpool_count_copy(reader, 99, 1);
  EXPECT_EQ(warpool_ping(reader, nullptr), WARPOOL_OK);
  warpool_sessions* sessions = nullptr;
  Error error;
  ASSERT_EQ(warpool_list_sessions(reader, nullptr, &sessions, error.out()), WARPOOL_OK);
  ASSERT_EQ(warpool_sessions_count(sessions), 2u);
  EXPECT_EQ(warpool_sessions_get(sessions, 2), nullptr);
  for (std::size_t i = 0; i < 2; ++i) {
    const warpool_session_info& info = *warpool_sessions_get(sessions, i);
    EXPECT_EQ(info.pid, ::getpid());
    if (std::strcmp(info.label, "two") != 0) continue;
    EXPECT_EQ(info.bytes_shared, kLarge * 8);
    EXPECT_EQ(info.copied_bytes[WARPOOL_COPY_CONVERT], 123u);
  }
  warpool_sessions_free(sessions);
}

TEST(Broker, InfoAndShutdown) {
  Broker broker;
  Program program(broker);
  const warpool_broker_info info = program.info();
  EXPECT_EQ(info.protocol, 1u);
  EXPECT_STREQ(info.broker_version, "0.0.1");
  EXPECT_EQ(info.socket_path, broker.socket());
  EXPECT_EQ(info.broker_pid, ::getpid());
  EXPECT_EQ(info.sessions, 1u);
  Error error;
  EXPECT_EQ(warpool_shutdown(program, 1, error.out()), WARPOOL_PERMISSION_DENIED);
  Program admin(broker, "", WARPOOL_CONNECT_ADMIN);
  EXPECT_EQ(warpool_shutdown(admin, 0, error.out()), WARPOOL_CONFLICT);
  EXPECT_OK(warpool_shutdown(admin, 1, error.out()), error);
  broker.wait_for_end();
  EXPECT_NE(::access(broker.socket().c_str(), F_OK), 0) << "a clean end leaves no socket";
}

TEST(Texts, NamesOfEverything) {
  EXPECT_STREQ(warpool_status_name(WARPOOL_LOST), "lost");
  EXPECT_STREQ(warpool_status_name(99), "unknown");
  EXPECT_STREQ(warpool_copy_reason_name(WARPOOL_COPY_PUT), "put");
  EXPECT_STREQ(warpool_copy_reason_name(99), "unknown");
  EXPECT_STREQ(warpool_dtype_name(WARPOOL_FLOAT64), "float64");
  EXPECT_EQ(warpool_dtype_size(WARPOOL_COMPLEX128), 16u);
  EXPECT_STREQ(warpool_version(), "0.1.0");
  Error error;
  EXPECT_EQ(warpool_part_init(nullptr, 1, 0, nullptr, 0, error.out()), WARPOOL_INVALID_ARGUMENT);
  warpool_connection* connection = nullptr;
  warpool_connect_options options{};
  EXPECT_EQ(warpool_connect(&options, &connection, error.out()), WARPOOL_INVALID_ARGUMENT);
  warpool_close(nullptr);
  warpool_interrupt(nullptr);
}

}  // namespace
}  // namespace warpool::inprocess
