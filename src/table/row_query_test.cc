#include "table/row_query.h"

#include <gtest/gtest.h>

namespace spotter::table {
namespace {

constexpr Field kColumns[] = {
    {"rank", Type::integer, Unit::none, Role::key, "."},
    {"name", Type::text, Unit::none, Role::key, "."},
    {"share", Type::real, Unit::ratio, Role::value, "."},
    {"up", Type::flag, Unit::none, Role::value, "."},
};

Table rows() {
  Table table("t", kColumns);
  table.append({i64{0}, std::string_view("gemm"), 0.5, true});
  table.append({i64{3}, std::string_view("gelu and more"), 0.25, false});
  table.append({i64{7}, std::string_view("sgemm_nt"), Value(), true});
  table.append({Value(), std::string_view("nccl"), 1.5, Value()});
  return table;
}

// The names of the rows that are chosen, or the error.
std::string names(const std::string& where, const std::string& sort = "") {
  const auto chosen = chosen_rows(rows(), {.where = where, .sort = sort});
  if (!chosen) return chosen.error().message;
  std::string all;
  for (size_t row = 0; row < chosen->rows(); ++row) all += std::string(chosen->text(row, 1)) + ";";
  return all;
}

TEST(RowQuery, Conditions) {
  EXPECT_EQ(names(""), "gemm;gelu and more;sgemm_nt;nccl;");
  EXPECT_EQ(names("rank=3"), "gelu and more;");
  EXPECT_EQ(names("rank=0-3,9"), "gemm;gelu and more;");
  EXPECT_EQ(names("rank!=0-3"), "sgemm_nt;nccl;");
  EXPECT_EQ(names("rank=null"), "nccl;");
  EXPECT_EQ(names("rank!=null and share!=null"), "gemm;gelu and more;");
  EXPECT_EQ(names(" name = *gemm* "), "gemm;sgemm_nt;");
  EXPECT_EQ(names("name=gel…"), "gelu and more;");
  EXPECT_EQ(names("name=*mm_…"), "sgemm_nt;");
  EXPECT_EQ(names("name='gelu and…' and rank=3"), "gelu and more;");
  EXPECT_EQ(names("share>=0.25 and share<1"), "gemm;gelu and more;");
  EXPECT_EQ(names("share<=0.25"), "gelu and more;");
  EXPECT_EQ(names("up=true"), "gemm;sgemm_nt;");
  EXPECT_EQ(names("rank>2"), "gelu and more;sgemm_nt;");
}

// As SQL and shells have them: what would find nothing without a word is taken, or refused.
TEST(RowQuery, WhatOthersWrite) {
  EXPECT_EQ(names("name='gemm'"), "gemm;");
  EXPECT_EQ(names("name=\"gemm\" and rank=0"), "gemm;");
  EXPECT_EQ(names("rank='3'"), "gelu and more;");
  EXPECT_NE(names("name==gemm").find("equality is one ="), std::string::npos) << names("name==gemm");
  EXPECT_NE(names("name=gemm or name=nccl").find("joined by and alone"), std::string::npos);
  EXPECT_NE(names("rank=0 or share>0.2").find("joined by and alone"), std::string::npos);
  EXPECT_EQ(names("name=this or that"), "");
  EXPECT_EQ(names("name='gelu and more' and rank=3"), "gelu and more;");
  EXPECT_EQ(names("name=\"a or b=c\""), "");
  EXPECT_NE(names("name=\"gemm\",\"nccl\"").find("one text in quotes"), std::string::npos);
  EXPECT_NE(names("name='gemm' or name='nccl'").find("joined by and alone"), std::string::npos);
}

TEST(RowQuery, Order) {
  EXPECT_EQ(names("", "-share"), "nccl;gemm;gelu and more;sgemm_nt;");
  EXPECT_EQ(names("", "name"), "gelu and more;gemm;nccl;sgemm_nt;");
}

// A double would leave out the last digits.
TEST(RowQuery, TimesAreAskedForToTheNanosecondAndAsTheyAreWritten) {
  constexpr Field kTimes[] = {{"at", Type::integer, Unit::ns, Role::time, "."}};
  constexpr i64 kAt = 1'792'066'626'000'011'820;
  Table table("t", kTimes);
  table.append({kAt});
  const auto count = [&](const std::string& where) { return chosen_rows(table, {.where = where})->rows(); };
  EXPECT_EQ(count(fmt::format("at>{}", kAt - 1)), 1U);
  EXPECT_EQ(count(fmt::format("at>{}", kAt)), 0U);
  EXPECT_EQ(count(fmt::format("at<={}", kAt - 1)), 0U);
  EXPECT_EQ(count("at>=2026-10-15T12:17:06.00001182Z"), 1U);
  EXPECT_EQ(count("at=2026-10-15T12:17:06.00001182Z"), 1U);
  EXPECT_EQ(count("at<2026-10-15T12:17:06.00001182Z"), 0U);
}

TEST(RowQuery, MistakesSayWhatThereIs) {
  EXPECT_EQ(names("size=3"), "where: the table t has no column \"size\"; it has rank, name, share, up");
  EXPECT_EQ(names("", "size"), "sort: the table t has no column \"size\"; it has rank, name, share, up");
  EXPECT_EQ(names("rank"), "where: \"rank\" is no condition; write one as rank=3 or dur_ns>1000");
  EXPECT_EQ(names("rank=x"), "where: rank: \"x\" is neither a whole number nor a range as 0-3");
  EXPECT_EQ(names("name>3"), "where: name: it is no number: it is asked for by = and !=");
  EXPECT_EQ(names("share=much"), "where: share: \"much\" is no number");
  EXPECT_EQ(names("up=1"), "where: up: it is true or false");
  EXPECT_EQ(names("=3"), "where: \"=3\" is no condition; write one as rank=3 or dur_ns>1000");
  EXPECT_FALSE(chosen(rows(), {.columns = {"rank", "size"}}));
}

TEST(RowQuery, ColumnsAndLimit) {
  const auto few = chosen(rows(), {.sort = "-rank", .columns = {"name", "rank"}, .limit = 1});
  ASSERT_TRUE(few);
  ASSERT_EQ(few->columns(), 2U);
  ASSERT_EQ(few->rows(), 1U);
  EXPECT_EQ(few->text(0, 0), "sgemm_nt");
}

}  // namespace
}  // namespace spotter::table
