#include "table/rates.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/time.h"

namespace spotter::table {
namespace {

constexpr Field kColumns[] = {
    {"time_ns", Type::integer, Unit::ns, Role::time, ""},
    {"device", Type::text, Unit::none, Role::key, ""},
    {"read_bytes", Type::integer, Unit::bytes, Role::counter, ""},
    {"busy_ns", Type::integer, Unit::ns, Role::counter, ""},
    {"reads", Type::integer, Unit::count, Role::counter, ""},
    {"energy_joules", Type::real, Unit::joules, Role::counter, ""},
    {"queue", Type::integer, Unit::count, Role::value, ""},
};

Table samples(std::initializer_list<std::initializer_list<Value>> rows) {
  Table table("disk", kColumns);
  for (const auto& row : rows) table.append(row);
  return table;
}

TEST(RatesTest, NamesAndUnits) {
  const Table t = rates(samples({}));
  const char* names[] = {"time_ns",      "device", "read_bytes_per_s", "busy_ratio", "reads_per_s",
                         "energy_watts", "queue"};
  for (size_t c = 0; c < std::size(names); ++c) EXPECT_STREQ(t.schema()[c].name, names[c]);
  EXPECT_EQ(t.schema()[2].unit, Unit::bytes_per_s);
  EXPECT_EQ(t.schema()[3].unit, Unit::ratio);
  EXPECT_EQ(t.schema()[4].unit, Unit::per_s);
  EXPECT_EQ(t.schema()[5].unit, Unit::watts);
  EXPECT_EQ(t.schema()[2].role, Role::value);
}

// Of which more than a second may be used in a second.
TEST(RatesTest, ProcessorTimeIsInCores) {
  constexpr Field kCpu[] = {
      {"time_ns", Type::integer, Unit::ns, Role::time, ""},
      {"user_ns", Type::integer, Unit::ns, Role::counter, ""},
      {"cpu_user_ns", Type::integer, Unit::ns, Role::counter, ""},
  };
  Table samples("cpu", kCpu);
  samples.append({0, 0, 0});
  samples.append({2 * kSecond, 7 * kSecond, kSecond});
  const Table t = rates(samples);
  EXPECT_STREQ(t.schema()[1].name, "user_cores");
  EXPECT_STREQ(t.schema()[2].name, "cpu_user_cores");
  EXPECT_EQ(t.schema()[1].unit, Unit::count);
  EXPECT_EQ(t.real(1, 1), 3.5);
  EXPECT_EQ(t.real(1, 2), 0.5);
}

TEST(RatesTest, EventsHaveNone) {
  Table events = samples({{0, "sda", 5, 0, 0, 0.0, 0}, {kSecond, "sda", 9, 0, 0, 0.0, 0}});
  events.is_events = true;
  const Table t = rates(events);
  EXPECT_TRUE(t.is_events);
  EXPECT_STREQ(t.schema()[2].name, "read_bytes");
  EXPECT_EQ(t.integer(1, 2), 9);
}

TEST(RatesTest, GrowthByTheSecondOfEachKey) {
  const Table t = rates(samples({
      {10 * kSecond, std::string_view("a"), i64{100}, i64{0}, i64{5}, 1.5, i64{1}},
      {12 * kSecond, std::string_view("a"), i64{300}, kSecond, i64{5}, 4.5, i64{2}},
      {12 * kSecond, std::string_view("b"), i64{900}, i64{0}, i64{5}, 4.5, i64{3}},
      {13 * kSecond, std::string_view("b"), i64{901}, i64{0}, i64{7}, 4.5, i64{4}},
  }));
  EXPECT_TRUE(is_null(t.at(0, 2)));  // the first
  EXPECT_EQ(t.real(1, 2), 100);
  EXPECT_EQ(t.real(1, 3), 0.5);
  EXPECT_EQ(t.real(1, 4), 0);
  EXPECT_EQ(t.real(1, 5), 1.5);
  EXPECT_EQ(t.integer(1, 6), 2);     // what is no counter stays
  EXPECT_TRUE(is_null(t.at(2, 2)));  // another key
  EXPECT_EQ(t.real(3, 2), 1);
  EXPECT_EQ(t.real(3, 4), 2);
}

TEST(RatesTest, NullWhereThereIsNone) {
  const Table t = rates(samples({
      {10 * kSecond, std::string_view("a"), i64{100}, i64{0}, {}, {}, {}},
      {10 * kSecond, std::string_view("a"), i64{300}, i64{0}, i64{1}, 1.0, {}},  // no time has passed
      {11 * kSecond, std::string_view("a"), i64{200}, {}, i64{2}, 0.5, {}},      // began anew
      {9 * kSecond, std::string_view("a"), i64{500}, i64{9}, i64{3}, 1.0, {}},   // the clock went back
  }));
  EXPECT_TRUE(is_null(t.at(1, 2)));
  EXPECT_TRUE(is_null(t.at(2, 2)));
  EXPECT_TRUE(is_null(t.at(2, 3)));
  EXPECT_EQ(t.real(2, 4), 1);
  EXPECT_TRUE(is_null(t.at(2, 5)));
  EXPECT_TRUE(is_null(t.at(3, 2)));
}

TEST(RatesTest, NoneAcrossAGap) {
  const Table t = rates(samples({
      {i64{0}, std::string_view("a"), i64{0}, {}, {}, {}, {}},
      {1 * kSecond, std::string_view("a"), i64{10}, {}, {}, {}, {}},
      {2 * kSecond, std::string_view("a"), i64{20}, {}, {}, {}, {}},
      {7 * kSecond, std::string_view("a"), i64{30}, {}, {}, {}, {}},
      {13 * kSecond, std::string_view("a"), i64{40}, {}, {}, {}, {}},
      {14 * kSecond, std::string_view("a"), i64{50}, {}, {}, {}, {}},
  }));
  EXPECT_EQ(t.real(3, 2), 2);
  EXPECT_TRUE(is_null(t.at(4, 2)));
  EXPECT_EQ(t.real(5, 2), 10);
}

TEST(RatesTest, NoneAcrossAClockThatWentBack) {
  const Table t = rates(samples({
      {100 * kSecond, std::string_view("a"), i64{10}, {}, {}, {}, {}},
      {101 * kSecond, std::string_view("a"), i64{20}, {}, {}, {}, {}},
      {41 * kSecond, std::string_view("a"), i64{30}, {}, {}, {}, {}},
      {41 * kSecond, std::string_view("a"), i64{1000}, {}, {}, {}, {}},
      {42 * kSecond, std::string_view("a"), i64{1010}, {}, {}, {}, {}},
  }));
  EXPECT_EQ(t.real(1, 2), 10);
  EXPECT_TRUE(is_null(t.at(2, 2)));
  EXPECT_TRUE(is_null(t.at(3, 2)));
  EXPECT_EQ(t.real(4, 2), 10);
}

TEST(RatesTest, TimesAtTheEndsOf64Bits) {
  const i64 most = std::numeric_limits<i64>::max(), least = std::numeric_limits<i64>::min();
  const Table t = rates(samples({
      {least, std::string_view("a"), i64{10}, {}, {}, {}, {}},
      {most, std::string_view("a"), i64{20}, {}, {}, {}, {}},
      {least, std::string_view("a"), i64{30}, {}, {}, {}, {}},
  }));
  EXPECT_NEAR(t.real(1, 2), 1e-9, 1e-9);
  EXPECT_TRUE(is_null(t.at(2, 2)));
}

TEST(RatesTest, LargeCountersLoseNothing) {
  const i64 most = std::numeric_limits<i64>::max(), least = std::numeric_limits<i64>::min();
  const Table t = rates(samples({
      {i64{0}, std::string_view("a"), most - 3, least, i64{0}, {}, {}},
      {kSecond, std::string_view("a"), most, most, i64{0}, {}, {}},
  }));
  EXPECT_EQ(t.real(1, 2), 3);
  EXPECT_NEAR(t.real(1, 3), 18'446'744'073.7, 0.1);
}

}  // namespace
}  // namespace spotter::table
