#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace spotter {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return fail(Code::invalid, "{} is odd", n);
  return n / 2;
}

Result<int> quarter(int n) {
  TRY_ASSIGN(const int h, half(n));
  TRY_ASSIGN(const int q, half(h));
  return q;
}

Result<void> check_even(int n) {
  TRY(half(n));
  return {};
}

Result<std::unique_ptr<int>> boxed(int n) {
  TRY_ASSIGN(auto box, Result<std::unique_ptr<int>>(std::make_unique<int>(n)));
  return box;
}

TEST(Result, PassesValuesAndErrorsUp) {
  EXPECT_EQ(quarter(12).value(), 3);
  const auto odd = quarter(6);
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().code, Code::invalid);
  EXPECT_EQ(odd.error().message, "3 is odd");
  EXPECT_TRUE(check_even(2));
  EXPECT_EQ(check_even(5).error().message, "5 is odd");
  EXPECT_EQ(*boxed(7).value(), 7);  // a value that can only be moved
}

TEST(Result, WithinAddsContext) {
  const Result<int> r = within(half(3).error(), "rank 3");
  EXPECT_EQ(r.error().message, "rank 3: 3 is odd");
  EXPECT_EQ(r.error().code, Code::invalid);
}

TEST(Result, EveryCodeHasItsName) {
  EXPECT_STREQ(code_name(Code::not_found), "not_found");
  EXPECT_STREQ(code_name(Code::invalid), "invalid");
  EXPECT_STREQ(code_name(Code::corrupt), "corrupt");
  EXPECT_STREQ(code_name(Code::unsupported), "unsupported");
  EXPECT_STREQ(code_name(Code::io), "io");
  EXPECT_STREQ(code_name(Code::denied), "denied");
  EXPECT_STREQ(code_name(Code::cancelled), "cancelled");
  EXPECT_STREQ(code_name(Code::internal), "internal");
}

TEST(Result, ErrnoText) { EXPECT_EQ(errno_text(ENOENT), "No such file or directory"); }

TEST(ResultDeathTest, CheckNamesTheCondition) {
  const int n = 1;
  CHECK(n == 1);
  EXPECT_DEATH(CHECK(n == 2), "internal error: n == 2 is false .*result_test.cc");
}

TEST(ResultDeathTest, EndProcess) {
  EXPECT_EXIT(end_process("out of memory"), testing::ExitedWithCode(1), "spotter: out of memory");
}

}  // namespace
}  // namespace spotter
