#include "app/capture/missing_hosts.h"

#include <gtest/gtest.h>

namespace spotter::app {
namespace {

const std::optional<Error> kAnswered, kGone = Error{Code::not_found, "n1: it is gone"};

TEST(MissingHosts, AreToldOneByOne) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(tell_missing({kAnswered}).value(), true);
  EXPECT_EQ(tell_missing({kAnswered, kAnswered}).value(), true);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  EXPECT_EQ(tell_missing({kAnswered, kGone}).value(), false);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "spotter: n1: it is gone\n");
}

TEST(MissingHosts, AllOfThemAreAnError) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(tell_missing({kGone}).error().message, "n1: it is gone");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "the error says it";
  testing::internal::CaptureStderr();
  const auto none = tell_missing({kGone, kGone});
  EXPECT_EQ(none.error().message, "no agent has answered");
  EXPECT_EQ(none.error().code, Code::not_found);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "spotter: n1: it is gone\nspotter: n1: it is gone\n");
}

}  // namespace
}  // namespace spotter::app
