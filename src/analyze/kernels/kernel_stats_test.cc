#include "analyze/kernels/kernel_stats.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace spotter::analyze {
namespace {

TEST(Joined, LeavesOutTheMiddleOfManyNames) {
  trace::TraceBuilder builder;
  builder.span("kernel", "k", 0, 7, 0, 1);
  builder.span("kernel", "last", 0, 7, 1, 1);
  const TracePtr trace = builder.build();
  std::vector<StringId> names(kMostJoined - 1, trace->name[0]);
  names.push_back(trace->name[1]);
  std::string half = "k";
  for (size_t i = 1; i < kMostJoined / 2; ++i) half += " -> k";
  EXPECT_EQ(joined(*trace, names), half + " -> " + half.substr(0, half.size() - 1) + "last");
  names.insert(names.begin(), 1000, trace->name[0]);
  EXPECT_EQ(joined(*trace, names),
            half + " -> ... 1000 more ... -> " + half.substr(0, half.size() - 1) + "last");
  EXPECT_EQ(joined(*trace, {}), "");
}

}  // namespace
}  // namespace spotter::analyze
