#include "app/advice.h"

#include <gtest/gtest.h>

#include "app/facts.h"

namespace spotter {
namespace {

constexpr Ns kMs = 1'000'000;

const Field kKernels[] = {
    {"kind", Type::text, Unit::none, Role::key, ""},
    {"name", Type::text, Unit::none, Role::key, ""},
    {"count", Type::integer, Unit::count, Role::value, ""},
    {"sum_ns", Type::integer, Unit::ns, Role::value, ""},
};
const Field kOperators[] = {
    {"name", Type::text, Unit::none, Role::key, ""},
    {"calls", Type::integer, Unit::count, Role::value, ""},
    {"host_self_ns", Type::integer, Unit::ns, Role::value, ""},
    {"device_self_ns", Type::integer, Unit::ns, Role::value, ""},
};

RankFacts rank(i64 number, Ns device_time, Ns idle) {
  RankFacts r;
  r.rank = number;
  r.spans = 10;
  r.span = r.device_time = device_time;
  r.idle = idle;
  r.compute = device_time - idle;
  return r;
}

// Ten equal kernels, so that none dominates.
Facts facts_of(std::vector<RankFacts> ranks, i64 count = 1000, Ns sum = 100 * kMs) {
  Facts facts;
  facts.ranks = std::move(ranks);
  facts.kernels = Table("kernels", kKernels);
  for (int i = 0; i < 10; i++)
    facts.kernels.append(
        {"compute", std::string_view("0123456789").substr(static_cast<size_t>(i), 1), count / 10, sum / 10});
  facts.operators = Table("operators", kOperators);
  facts.has_device_work = true;
  return facts;
}

// The sentence that begins so; empty if there is none.
std::string said(const Facts& facts, std::string_view beginning) {
  for (const std::string& sentence : advice(facts)) {
    if (sentence.starts_with(beginning)) return sentence;
  }
  return {};
}

TEST(Advice, OneIdleRankAmongManyIsNamedAlsoWithoutSteps) {
  std::vector<RankFacts> ranks;
  for (i64 i = 0; i < 8; i++) ranks.push_back(rank(i, 5 * kMs, kMs / 5));
  EXPECT_EQ(said(facts_of(ranks), "The device of rank"), "");
  ranks[3] = rank(3, 10 * kMs, 5 * kMs);
  EXPECT_EQ(said(facts_of(ranks), "The device of rank"),
            "The device of rank 3 takes 10.0 ms and is idle for 50 % of it; the others (median) take 5.00 ms "
            "and 4 %: look at this rank first, with --ranks 3.");
  ranks[3] = rank(3, 5 * kMs, kMs);  // as long, but idle
  EXPECT_NE(said(facts_of(ranks), "The device of rank 3 takes 5.00 ms and is idle for 20 %"), "");
}

TEST(Advice, WhoWaitsInCollectivesIsSaidByEvidenceOnly) {
  std::vector<RankFacts> ranks = {rank(0, 10 * kMs, kMs), rank(1, 10 * kMs, kMs)};
  ranks[1].compute = 5 * kMs;
  ranks[0].communication = ranks[0].hidden_communication = kMs;
  ranks[1].communication = ranks[1].hidden_communication = kMs;
  EXPECT_EQ(
      said(facts_of(ranks), "The device of rank 0"),
      "The device of rank 0 computes for 9.00 ms, that of rank 1 only for 5.00 ms: the work is uneven.");
  ranks[1].communication = ranks[1].hidden_communication = 4 * kMs;
  EXPECT_EQ(
      said(facts_of(ranks), "The device of rank 0"),
      "The device of rank 0 computes for 9.00 ms, that of rank 1 only for 5.00 ms: it waits in collectives, "
      "4.00 ms against 1.00 ms.");
}

TEST(Advice, ShortKernelsAreToBlameOnlyWhereTheGapsAreLaunches) {
  RankFacts r = rank(0, 100 * kMs, 50 * kMs);
  r.stream_idle = r.host_wait = 50 * kMs;
  r.host_gaps = 5000;  // 10 µs each
  EXPECT_NE(said(facts_of({r}, 10'000, 40 * kMs), "The device does nothing").find("CUDA graphs"),
            std::string::npos);
  r.host_gaps = 4;
  const std::string text = said(facts_of({r}, 10'000, 40 * kMs), "The device does nothing");
  EXPECT_EQ(text.find("CUDA graphs"), std::string::npos);
  EXPECT_NE(text.find("gaps of 12.5 ms on average. Look for host work"), std::string::npos);
}

TEST(Advice, WorkOutsideOperatorsIsNotCalledGraphs) {
  RankFacts r = rank(0, 100 * kMs, 0);
  r.device_rows = 1000;
  Facts facts = facts_of({r});
  facts.operators.append({"aten::mm", 1, kMs, 4 * kMs});
  EXPECT_EQ(
      said(facts, "Operators start"),
      "Operators start only 4 % of the device work; the rest was launched outside any operator. The kernels "
      "tell more than the operators here.");
  facts.ranks[0].unlaunched_rows = 900;
  EXPECT_NE(said(facts, "Operators start").find("the launches of most are not in the trace"),
            std::string::npos);
}

}  // namespace
}  // namespace spotter
