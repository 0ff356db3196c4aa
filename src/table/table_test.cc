#include "table/table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

namespace spotter::table {
namespace {

const Field kSchema[] = {
    {"rank", Type::integer, Unit::none, Role::key, "The rank."},
    {"name", Type::text, Unit::none, Role::key, "The kernel."},
    {"busy_ratio", Type::real, Unit::ratio, Role::value, "Its share."},
    {"slow", Type::flag, Unit::none, Role::value, "Whether it is slow."},
};

TEST(Table, HoldsWhatWasAppended) {
  Table t("kernels", kSchema);
  EXPECT_EQ(t.name(), "kernels");
  EXPECT_EQ(t.rows(), 0u);
  EXPECT_EQ(t.columns(), 4u);
  t.append({0, "gemm", 0.25, true});
  t.append({1, "relu", 1, false});  // an integer where a real is wanted
  t.append({2, "gemm", 0.5, true});
  ASSERT_EQ(t.rows(), 3u);
  EXPECT_EQ(t.integer(1, 0), 1);
  EXPECT_EQ(t.text(2, 1), "gemm");
  EXPECT_EQ(t.text(0, 1).data(), t.text(2, 1).data());  // equal words are stored once
  EXPECT_EQ(t.real(0, 2), 0.25);
  EXPECT_EQ(t.real(1, 2), 1.0);
  EXPECT_EQ(std::get<bool>(t.at(1, 3)), false);
}

TEST(Table, NullsInAnyPlace) {
  for (int null_row = 0; null_row < 3; ++null_row) {
    Table t("t", kSchema);
    for (int row = 0; row < 3; ++row) {
      if (row == null_row)
        t.append({Value(), Value(), Value(), Value()});
      else
        t.append({row, "x", 0.5, true});
    }
    for (size_t row = 0; row < 3; ++row)
      for (size_t c = 0; c < 4; ++c) EXPECT_EQ(is_null(t.at(row, c)), row == static_cast<size_t>(null_row));
  }
}

TEST(Table, ExtremeIntegersAndEmptyText) {
  Table t("t", kSchema);
  t.append({std::numeric_limits<i64>::min(), "", 0, false});
  t.append({std::numeric_limits<i64>::max(), "", -0.0, false});
  EXPECT_EQ(t.integer(0, 0), std::numeric_limits<i64>::min());
  EXPECT_EQ(t.integer(1, 0), std::numeric_limits<i64>::max());
  EXPECT_FALSE(is_null(t.at(0, 1)));
  EXPECT_EQ(t.text(0, 1), "");
}

TEST(Table, ColumnsByName) {
  const Table t("t", kSchema);
  EXPECT_EQ(t.column("rank"), 0u);
  EXPECT_EQ(t.column("slow"), 3u);
}

TEST(Table, ACopyIsIndependent) {
  Table a("t", kSchema);
  a.append({1, "one", 0, true});
  Table b = a;
  b.append({2, "two", 0, true});
  a = Table();
  EXPECT_EQ(b.text(0, 1), "one");
  EXPECT_EQ(b.text(1, 1), "two");
}

TEST(Table, PackedHoldsTheSame) {
  constexpr i64 kMost = std::numeric_limits<i64>::max(), kLeast = std::numeric_limits<i64>::min();
  const std::vector<std::vector<i64>> columns = {{7},
                                                 {0, 0, 0},
                                                 {-1, 255, 0},
                                                 {1'700'000'000'000'000'000, 1'700'000'000'000'000'256},
                                                 {kLeast, kMost, 0, -1},
                                                 {kMost, kMost - 1},
                                                 {-(i64{1} << 55), (i64{1} << 55) - 1}};
  for (const std::vector<i64>& numbers : columns) {
    for (const bool has_nulls : {false, true}) {
      Table t("t", kSchema);
      for (const i64 n : numbers) t.append({n, fmt::format("name {}", n), static_cast<double>(n) / 3, n > 0});
      if (has_nulls) t.append({Value(), "", -0.0, Value()});
      Table packed = t;
      packed.pack();
      packed.pack();
      const Table copy = packed;
      ASSERT_EQ(copy.rows(), t.rows());
      for (size_t row = 0; row < t.rows(); ++row) {
        for (size_t c = 0; c < t.columns(); ++c) EXPECT_EQ(copy.at(row, c), t.at(row, c)) << row << ' ' << c;
        EXPECT_EQ(copy.word(row, 1), t.word(row, 1));
      }
    }
  }
  Table empty("t", kSchema);
  empty.pack();
  EXPECT_EQ(empty.rows(), 0u);
}

TEST(TableDeathTest, MistakesInCodeEndTheProcess) {
  Table t("t", kSchema);
  EXPECT_DEATH(t.append({1, "x", 0.5}), "is false");
  EXPECT_DEATH(t.append({1.5, "x", 0.5, true}), "is false");
  EXPECT_DEATH(t.append({1, 2, 0.5, true}), "is false");
  EXPECT_DEATH(t.append({1, "x", "half", true}), "is false");
  EXPECT_DEATH(t.append({1, "x", 0.5, 1}), "is false");
  EXPECT_DEATH(static_cast<void>(t.column("nothing")), "is false");
  EXPECT_DEATH(static_cast<void>(t.at(0, 0)), "is false");
  t.append({1, "x", 0.5, true});
  t.pack();
  EXPECT_DEATH(t.append({1, "x", 0.5, true}), "is false");
}

TEST(Table, NamesOfTypesAndUnits) {
  EXPECT_STREQ(type_name(Type::integer), "integer");
  EXPECT_STREQ(type_name(Type::real), "real");
  EXPECT_STREQ(type_name(Type::text), "text");
  EXPECT_STREQ(type_name(Type::flag), "flag");
  EXPECT_STREQ(unit_name(Unit::none), "none");
  EXPECT_STREQ(unit_name(Unit::ns), "ns");
  EXPECT_STREQ(unit_name(Unit::bytes), "bytes");
  EXPECT_STREQ(unit_name(Unit::ratio), "ratio");
  EXPECT_STREQ(unit_name(Unit::count), "count");
  EXPECT_STREQ(unit_name(Unit::bytes_per_s), "bytes_per_s");
}

TEST(Table, KeepsASchemaOfItsOwn) {
  Table copy, empty;
  {
    std::vector<Field> fields(std::begin(kSchema), std::end(kSchema));
    Table t("t", fields);
    fields.clear();
    t.append({0, "gemm", 0.25, true});
    t.notes.add("kind", Severity::info, "a note");
    EXPECT_EQ(t.lasting_schema(), nullptr);
    copy = t;
    empty = t.empty_like();
    Table moved = std::move(t);
    EXPECT_STREQ(moved.schema()[1].name, "name");
  }
  ASSERT_EQ(copy.columns(), 4u);
  EXPECT_STREQ(copy.schema()[2].name, "busy_ratio");
  EXPECT_EQ(copy.text(0, 1), "gemm");
  EXPECT_EQ(empty.name(), "t");
  EXPECT_EQ(empty.rows(), 0u);
  EXPECT_EQ(empty.notes.count("kind"), 1);
  EXPECT_EQ(empty.column("slow"), 3u);
}

TEST(Table, SharesASchemaThatLasts) {
  const Table a("a", kSchema), b("b", kSchema);
  EXPECT_EQ(a.lasting_schema(), kSchema);
  EXPECT_EQ(a.lasting_schema(), b.lasting_schema());
  EXPECT_EQ(a.empty_like().lasting_schema(), kSchema);
}

TEST(Table, StoresEqualWordsOnceHoweverManyThereAre) {
  for (const int words : {1, 23, 24, 25, 26, 300}) {
    Table t("t", std::span(kSchema).first(2));
    for (int time = 0; time < 2; ++time) {
      for (int i = 0; i < words; ++i) t.append({time, "word " + std::to_string(i)});
    }
    const Table copy = t;
    for (size_t row = 0; row < copy.rows(); ++row) {
      const size_t word = row % static_cast<size_t>(words);
      EXPECT_EQ(copy.text(row, 1), "word " + std::to_string(word));
      EXPECT_EQ(copy.text(row, 1).data(), copy.text(word, 1).data());
    }
  }
}

}  // namespace
}  // namespace spotter::table
