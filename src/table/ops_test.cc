#include "table/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace spotter::table {
namespace {

const Field kSchema[] = {
    {"id", Type::integer, Unit::none, Role::key, "Place in the input."},
    {"name", Type::text, Unit::none, Role::key, "A name."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "A duration."},
    {"share", Type::real, Unit::ratio, Role::value, "A share."},
};

Table sample() {
  Table t("sample", kSchema);
  t.notes.add("kind", Severity::info, "a note");
  t.append({0, "b", 30, 0.5});
  t.append({1, "a", 10, std::nan("")});
  t.append({2, "c", Value(), 0.9});
  t.append({3, "a", 30, Value()});
  t.append({4, Value(), 10, 0.1});
  t.append({5, "b", -5, std::numeric_limits<double>::infinity()});
  return t;
}

std::string ids(const Table& t) {
  std::string text;
  for (size_t row = 0; row < t.rows(); ++row) text += std::to_string(t.integer(row, t.column("id")));
  return text;
}

TEST(Ops, Sort) {
  struct Case {
    std::vector<SortKey> keys;
    const char* expected;
  };
  const Case cases[] = {
      {{}, "012345"},
      {{{"dur_ns"}}, "514032"},        // ties keep their order, the null is last
      {{{"dur_ns", true}}, "031452"},  // also when descending
      {{{"name"}}, "130524"},
      {{{"name", true}}, "205134"},
      {{{"share"}}, "402513"},  // not-a-number before null
      {{{"share", true}}, "520413"},
      {{{"name"}, {"dur_ns"}}, "135024"},
      {{{"dur_ns", true}, {"name"}}, "301452"},
      {{{"dur_ns"}, {"id", true}}, "541302"},
  };
  for (const Case& c : cases) EXPECT_EQ(ids(sort(sample(), c.keys)), c.expected);
}

TEST(Ops, HeadAndPick) {
  const Table t = sample();
  EXPECT_EQ(ids(head(t, 0)), "");
  EXPECT_EQ(ids(head(t, 2)), "01");
  EXPECT_EQ(ids(head(t, 99)), "012345");
  EXPECT_EQ(ids(pick(t, {5, 0, 5})), "505");
}

TEST(Ops, EverythingElseIsKept) {
  const Table t = pick(sample(), {4, 2});
  EXPECT_EQ(t.name(), "sample");
  EXPECT_EQ(t.notes.count("kind"), 1);
  EXPECT_STREQ(t.schema()[2].help, "A duration.");
  EXPECT_TRUE(is_null(t.at(0, 1)));
  EXPECT_TRUE(is_null(t.at(1, 2)));
  EXPECT_EQ(t.text(1, 1), "c");
}

TEST(Ops, Project) {
  const Table t = project(sample(), {"share", "id"});
  ASSERT_EQ(t.columns(), 2u);
  EXPECT_STREQ(t.schema()[0].name, "share");
  EXPECT_EQ(t.rows(), 6u);
  EXPECT_EQ(t.real(2, 0), 0.9);
  EXPECT_TRUE(is_null(t.at(3, 0)));
  EXPECT_EQ(t.integer(5, 1), 5);
  EXPECT_EQ(t.notes.count("kind"), 1);
}

TEST(Ops, SumBy) {
  const Table t = sum_by(sample(), {"name"}, {"dur_ns", "id"});
  ASSERT_EQ(t.rows(), 4u);
  ASSERT_EQ(t.columns(), 3u);
  EXPECT_EQ(t.name(), "sample");
  EXPECT_EQ(t.notes.count("kind"), 1);
  const i64 sums[][2] = {{25, 5}, {40, 4}, {0, 2}, {10, 4}};  // b, a, c (null counts as 0), null
  for (size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(t.integer(row, 1), sums[row][0]) << row;
    EXPECT_EQ(t.integer(row, 2), sums[row][1]) << row;
  }
  EXPECT_EQ(t.text(0, 0), "b");
  EXPECT_EQ(t.text(2, 0), "c");
  EXPECT_TRUE(is_null(t.at(3, 0)));
  EXPECT_EQ(sum_by(head(sample(), 0), {"name"}, {"id"}).rows(), 0u);
}

// Expected values are numpy's: numpy.quantile(values, q).
TEST(Ops, Quantile) {
  struct Case {
    std::vector<i64> values;
    double q, expected;
  };
  const Case cases[] = {
      {{7}, 0.0, 7},
      {{7}, 0.5, 7},
      {{7}, 1.0, 7},
      {{1, 2}, 0.5, 1.5},
      {{1, 2, 3, 4}, 0.5, 2.5},
      {{1, 2, 3, 4}, 0.25, 1.75},
      {{1, 2, 3, 4}, 1.0, 4},
      {{-10, 0, 10}, 0.1, -8},
      {{1, 10, 100, 1000}, 0.99, 973},
      {{0, 0, 0, 50}, 0.9, 35},
  };
  for (const Case& c : cases) EXPECT_DOUBLE_EQ(quantile(c.values, c.q), c.expected) << c.q;
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));

  const i64 lowest = std::numeric_limits<i64>::min(), highest = std::numeric_limits<i64>::max();
  EXPECT_EQ(quantile(std::vector<i64>{lowest, highest}, 0.5), 0.0);
  const i64 base = i64{1} << 60;
  EXPECT_EQ(quantile(std::vector<i64>{base, base + 1024}, 0.5), static_cast<double>(base + 512));
}

TEST(Ops, IntegersOfAColumnThatMayBeNull) {
  constexpr Field kColumns[] = {{"n", Type::integer, Unit::none, Role::value, ""}};
  Table table("numbers", kColumns);
  EXPECT_EQ(sum_of(table, "n"), 0);
  table.append({i64{3}});
  table.append({or_null(std::optional<i64>())});
  table.append({or_null(std::optional<i64>(-1))});
  EXPECT_EQ(sum_of(table, "n"), 2);
  EXPECT_EQ(optional_integer(table, 0, "n"), 3);
  EXPECT_EQ(optional_integer(table, 1, "n"), std::nullopt);
  EXPECT_TRUE(is_null(or_null("")));
  EXPECT_EQ(or_null("a"), Value("a"));
}

}  // namespace
}  // namespace spotter::table
