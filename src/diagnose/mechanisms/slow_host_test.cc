#include <gtest/gtest.h>

#include "analyze/list.h"
#include "base/time.h"
#include "diagnose/diagnose.h"
#include "diagnose/search.h"
#include "trace/builder.h"

namespace spotter::diagnose {
namespace {

// Three ranks without devices, in steps of 10 ms; each has made its call of a step when all have come. In the
// last one the first rank does not come for as long as it is recorded.
RankTable rank_of(i64 number, Ns missing) {
  constexpr Ns kStep = 10 * kMillisecond;
  constexpr i64 kSteps = 5;
  trace::TraceBuilder builder;
  builder.info().base_ns = 1'000'000'000;
  builder.info().host_name = "n0";
  const Ns until = kSteps * kStep + missing;
  for (i64 s = 0; s < kSteps; ++s) {
    builder.span("cpu_op", "aten::linear", 1, 1, s * kStep, 4 * kMillisecond);
    builder.span("cpu_op", "c10d::allreduce_", 1, 1, s * kStep + 5 * kMillisecond, kMillisecond / 10);
    builder.span("user_annotation", "gloo:all_reduce", 1, 2, s * kStep + 5 * kMillisecond, kMillisecond);
    builder.span("user_annotation", "Optimizer.step#SGD.step", 1, 1, s * kStep + 7 * kMillisecond,
                 kMillisecond);
  }
  if (number != 0) {
    builder.span("cpu_op", "c10d::allreduce_", 1, 1, kSteps * kStep, kMillisecond / 10);
    builder.span("user_annotation", "gloo:all_reduce", 1, 2, kSteps * kStep, missing);
  }
  builder.span("Trace", "PyTorch Profiler (0)", 2, 3, 0, until);
  return {number, std::to_string(number), *analyze::kSkeleton.map(*builder.build(), {})};
}

std::vector<Found> found_where(Ns missing) {
  std::vector<RankTable> ranks;
  for (i64 r = 0; r < 3; ++r) ranks.push_back(rank_of(r, missing));
  const JobModel model(analyze::make_program(std::move(ranks)));
  std::vector<Found> found = search(model, 0.02);
  std::erase_if(found, [](const Found& f) { return std::string_view(f.mechanism->name) != "slow_host"; });
  return found;
}

TEST(SlowHost, WhoDoesNotComeForLongerThanAStepIsNamed) {
  const std::vector<Found> found = found_where(800 * kMillisecond);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].candidate.ranks, std::vector<u32>{0});
  EXPECT_EQ(
      found[0].candidate.what,
      "Rank 0 (host n0) had not come to all_reduce when its recording ended: 2 others had waited 800 ms "
      "for it");
  EXPECT_EQ(found[0].confidence, Confidence::medium);
}

TEST(SlowHost, WhereARecordingHappensToEndNobodyIsLate) {
  EXPECT_TRUE(found_where(kMillisecond / 2).empty());
}

}  // namespace
}  // namespace spotter::diagnose
