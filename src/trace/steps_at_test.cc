#include "trace/steps_at.h"

#include <gtest/gtest.h>

namespace spotter::trace {
namespace {

TEST(StepsAt, StepsMayOverlapAndEncloseOneAnother) {
  const std::vector<Step> steps = {{1, 0, 100}, {2, 10, 20}, {3, 90, 120}};
  const StepsAt at(steps);
  const auto all = [&](Ns time) {
    std::vector<size_t> found;
    at.for_each(time, [&](size_t step) { found.push_back(step); });
    return found;
  };
  EXPECT_EQ(all(15), (std::vector<size_t>{1, 0}));
  EXPECT_EQ(all(95), (std::vector<size_t>{2, 0}));
  EXPECT_EQ(all(-1), (std::vector<size_t>{}));
  EXPECT_EQ(all(120), (std::vector<size_t>{}));
  EXPECT_EQ(at.last(15), 1u);
  EXPECT_EQ(at.last(20), 0u);  // the last to begin has ended, the one around it has not
  EXPECT_EQ(at.last(119), 2u);
  EXPECT_EQ(at.last(120), kNone);
}

}  // namespace
}  // namespace spotter::trace
