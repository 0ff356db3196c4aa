#include "store/schema.h"

#include <gtest/gtest.h>

#include "store/test_history.h"

namespace spotter::store {
namespace {

constexpr Field kMount[] = {
    {"device", Type::text, Unit::none, Role::key, "The device."},
    {"since_ns", Type::integer, Unit::ns, Role::time, "When it was mounted."},
    {"used_bytes", Type::integer, Unit::bytes, Role::value, "Used."},
};

Table mounts(bool is_events, bool has_times = true) {
  Table table("mount", has_times ? std::span<const Field>(kMount) : std::span<const Field>(kMount, 1));
  table.is_events = is_events;
  return table;
}

TEST(Schema, ComesBack) {
  for (const bool is_events : {false, true}) {
    for (const bool has_times : {false, true}) {
      Schema schema = schema_of(mounts(is_events, has_times));
      EXPECT_EQ(schema.is_events, is_events);
      EXPECT_EQ(decode_schema(encode(schema)).value(), schema);
      schema.is_folded = true;
      EXPECT_EQ(decode_schema(encode(schema)).value(), schema);
    }
  }
}

TEST(Schema, WhatFilesSaidWithoutAWordOfEvents) {
  const size_t bits = 2 + std::string_view("mount").size();  // behind the version, the length and the name
  EXPECT_EQ(encode(schema_of(mounts(true))).at(bits), 0);
  EXPECT_EQ(encode(schema_of(mounts(false, false))).at(bits), 0);
  // A reader of before the bit takes no such table for a folded one: it does not know the version.
  EXPECT_EQ(encode(schema_of(mounts(true)))[0], 1);
  EXPECT_EQ(encode(schema_of(mounts(false, false)))[0], 1);
  EXPECT_EQ(encode(schema_of(mounts(false)))[0], 2);
  EXPECT_EQ(encode(schema_of(mounts(true, false)))[0], 2);
}

TEST(Schema, SamplesMayHaveTimesAndEventsNone) {
  const TestFolder folder;
  const auto history = open_history({folder.file()});
  Batch batch{kStart, kSecond, {mounts(false), Table("boot", std::span<const Field>(kMount, 1))}};
  batch.tables[0].append({"sda", kStart - kHour, 17});
  batch.tables[1].is_events = true;
  batch.tables[1].append({"sda"});
  ASSERT_TRUE(history->append(batch));
  ASSERT_TRUE(history->flush());
  const auto tables = ask(*history, everything());
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_FALSE(tables[0].is_events);
  EXPECT_STREQ(tables[0].schema()[0].name, "time_ns");
  EXPECT_EQ(tables[0].integer(0, 0), kStart);
  EXPECT_EQ(tables[0].integer(0, tables[0].column("since_ns")), kStart - kHour);
  EXPECT_TRUE(tables[1].is_events);
  EXPECT_EQ(tables[1].columns(), 1U);
  EXPECT_EQ(read_catalogue(folder.file(), CatalogueTable::events)->integer(0, 0), kStart);
  EXPECT_EQ(read_catalogue(folder.file(), CatalogueTable::series)->rows(), 1U);
}

}  // namespace
}  // namespace spotter::store
