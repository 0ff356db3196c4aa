#include "respond/incidents/members.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "respond/incidents/incidents.h"

namespace spotter::respond {
namespace {

constexpr Ns kAt = 1'795'000'000 * kSecond;

Report report(const std::string& host, std::vector<i64> ranks, i64 world) {
  return {.host = host,
          .job = {.id = "4711",
                  .user = "alice",
                  .ranks = std::move(ranks),
                  .world_size = world,
                  .age = kHour,
                  .steps = 900,
                  .step = kSecond}};
}

TEST(Members, ASmallJobIsTracedWholeOnAllItsHosts) {
  Members members;
  members.see(report("gpu02", {2, 3}, 4), kAt);
  const Chosen chosen = members.choose("4711", "gpu01", {0, 1}, {}, {});
  EXPECT_TRUE(chosen.ranks.empty());
  EXPECT_EQ(chosen.hosts, (std::vector<std::string>{"gpu01", "gpu02"}));
}

TEST(Members, OfAJobThatIsHereAloneOnlyThisHostIsAsked) {
  const Chosen chosen = Members().choose("4711", "gpu01", {0, 1}, {}, {});
  EXPECT_EQ(chosen.ranks, (std::vector<i64>{0, 1}));
  EXPECT_TRUE(chosen.hosts.empty());
}

TEST(Members, OfALargeJobScoutsAreTaken) {
  Members members;
  for (i64 i = 1; i < 128; ++i) {
    std::vector<i64> ranks;
    for (i64 r = 0; r < 8; ++r) ranks.push_back(i * 8 + r);
    members.see(report(fmt::format("gpu{:03}", i), ranks, 1024), kAt);
  }
  const Chosen chosen = members.choose("4711", "gpu000", {0, 1, 2, 3, 4, 5, 6, 7}, {}, {37});
  EXPECT_EQ(chosen.ranks.size(), Members::kScouts);
  EXPECT_TRUE(std::binary_search(chosen.ranks.begin(), chosen.ranks.end(), 37));
  EXPECT_TRUE(std::binary_search(chosen.ranks.begin(), chosen.ranks.end(), 0));
  EXPECT_GE(chosen.hosts.size(), 31u);
  EXPECT_GE(chosen.ranks.back(), 900);
}

TEST(Members, OfAFewLargeHostsMoreRanksAreTakenOfEach) {
  Members members;
  std::vector<i64> first(64), second(64);
  for (i64 r = 0; r < 64; ++r) first[static_cast<size_t>(r)] = r, second[static_cast<size_t>(r)] = 64 + r;
  members.see(report("b", second, 128), kAt);
  const Chosen chosen = members.choose("4711", "a", first, {}, {});
  EXPECT_EQ(chosen.ranks.size(), Members::kScouts);
  EXPECT_EQ(chosen.hosts, (std::vector<std::string>{"a", "b"}));
}

// What names a rank is another incident of the job, of the family of its rule; what is slow are many ranks.
TEST(Members, RanksThatMeasurementsNameAreAmongTheScouts) {
  Incidents incidents({.cluster = "a", .host = "gpu00"});
  const auto say = [&](Condition condition) {
    condition.job = "4711";
    condition.since = condition.at = kAt;
    incidents.take(condition, kAt);
  };
  const auto hot = [&](i64 rank, const char* rule, const char* family) {
    say({.rule = rule, .family = family, .host = "gpu06", .rank = rank, .device = "gpu 2"});
  };
  for (i64 rank = 0; rank < 8; ++rank)
    say({.rule = "step_time_up", .family = "speed", .host = "gpu00", .rank = rank});
  hot(66, "rank_outlier", "speed");
  hot(50, "gpu_throttled", "gpu");
  hot(90, "gpu_idle_in_job", "gpu");  // it waits
  EXPECT_EQ(incidents.suspects("4711-speed-1", kAt), (std::vector<i64>{50, 66})) << "the most direct first";
  EXPECT_TRUE(incidents.suspects("4711-speed-2", kAt).empty());

  Members members;
  std::vector<i64> own(128);
  std::iota(own.begin(), own.end(), 0);
  const auto traced = [&](const std::vector<i64>& suspects, i64 rank) {
    return std::ranges::count(members.choose("4711", "gpu00", own, {}, suspects).ranks, rank);
  };
  for (const i64 rank : {50, 66}) {
    EXPECT_EQ(traced({}, rank), 0);
    EXPECT_EQ(traced(incidents.suspects("4711-speed-1", kAt), rank), 1);
  }
}

// 16 hosts of 8 ranks; this one has the first.
Members sixteen_hosts() {
  Members members;
  for (i64 i = 1; i < 16; ++i) {
    std::vector<i64> ranks;
    for (i64 r = 0; r < 8; ++r) ranks.push_back(i * 8 + r);
    members.see(report(fmt::format("gpu{:02}", i), ranks, 128), kAt);
  }
  return members;
}
const std::vector<i64> kFirst = {0, 1, 2, 3, 4, 5, 6, 7};

// It was replaced by another after a fault, and the job began anew under its id.
TEST(Members, AHostThatAJobHasLeftIsNotAsked) {
  Members members;
  const auto of_host = [](i64 host) {
    std::vector<i64> ranks(8);
    std::iota(ranks.begin(), ranks.end(), host * 8);
    return ranks;
  };
  for (i64 i = 1; i < 16; ++i) members.see(report(fmt::format("gpu{:02}", i), of_host(i), 128), kAt);
  Report restarted = report("gpu40", of_host(5), 128);
  restarted.job.steps = 20;
  members.see(restarted, kAt + kMinute);
  const std::vector<std::string> hosts = members.hosts("4711");
  EXPECT_EQ(hosts.size(), 15u);
  EXPECT_FALSE(std::binary_search(hosts.begin(), hosts.end(), "gpu05"));
  const Chosen chosen = members.choose("4711", "gpu00", of_host(0), {}, {});
  EXPECT_TRUE(std::binary_search(chosen.hosts.begin(), chosen.hosts.end(), "gpu40"));
  Report anothers = report("gpu41", of_host(6), 128);
  anothers.job.user = "bob";
  members.see(anothers, kAt + kMinute);
  EXPECT_EQ(members.hosts("4711").size(), 16u);
}

TEST(Members, ASecondCaptureTakesTheGroupThatWaits) {
  const Members members = sixteen_hosts();
  const std::vector<i64> traced = members.choose("4711", "gpu00", kFirst, {}, {}).ranks;
  const Chosen more =
      members.choose_more("4711", "gpu00", kFirst, {{32, 33, 34, 35, 36, 37, 38, 39}, true}, traced);
  EXPECT_EQ(more.ranks, (std::vector<i64>{32, 33, 34, 35, 36, 37, 38, 39}));
  EXPECT_EQ(more.hosts, std::vector<std::string>{"gpu04"});
  EXPECT_TRUE(members.choose_more("4711", "gpu00", kFirst, {traced, true}, traced).ranks.empty())
      << "all of them were";
  EXPECT_TRUE(members.choose_more("4711", "gpu00", kFirst, {{200, 201}, true}, traced).ranks.empty())
      << "nobody has told of them";
}

TEST(Members, OfALargeGroupTheOthersAreTakenIfTheyAreFew) {
  const Members members = sixteen_hosts();
  const std::vector<i64> traced = members.choose("4711", "gpu00", kFirst, {}, {}).ranks;
  ASSERT_EQ(traced.size(), 32u);
  EXPECT_TRUE(members.choose_more("4711", "gpu00", kFirst, {{0, 1, 2}, false}, traced).ranks.empty());
  Members few;
  std::vector<i64> own(72);
  for (i64 r = 0; r < 72; ++r) own[static_cast<size_t>(r)] = r;
  const std::vector<i64> scouts = few.choose("4711", "gpu00", own, {}, {}).ranks;
  const Chosen more = few.choose_more("4711", "gpu00", own, {}, scouts);
  EXPECT_EQ(more.ranks.size(), Members::kScouts);
  EXPECT_TRUE(more.hosts.empty());
  EXPECT_EQ(std::ranges::count_if(more.ranks,
                                  [&](i64 rank) { return std::ranges::find(scouts, rank) != scouts.end(); }),
            1)
      << "who waits for them";
}

TEST(Members, PaceIsThatOfWhoHasMadeMostSteps) {
  Members members;
  Report one = report("gpu02", {2}, 4), two = report("gpu03", {3}, 4);
  two.job.steps = 1000;
  two.job.wrote_ago = kMinute;
  members.see(one, kAt);
  members.see(two, kAt);
  const JobPace pace = members.pace("4711").value();
  EXPECT_EQ(pace.steps, 1000);
  EXPECT_EQ(pace.first, kAt - kHour);
  EXPECT_EQ(pace.last_writing, kAt - kMinute);
  EXPECT_FALSE(members.pace("4712"));
}

TEST(Members, HowAJobGoesOnIsKnownByWhatWasSaidSince) {
  Members members;
  Report said = report("gpu02", {2, 3}, 4);
  members.see(said, kAt);
  const JobPace before = *members.pace("4711");
  EXPECT_FALSE(heard_ratio(before, members.pace("4711"), kAt + kSecond)) << "nobody has said more";
  members.see(said, kAt + kMinute);
  EXPECT_FALSE(heard_ratio(before, members.pace("4711"), kAt + kSecond)) << "it has made no step";
  said.job.steps = 950;
  said.job.step = 2 * kSecond;
  members.see(said, kAt + kMinute);
  EXPECT_EQ(heard_ratio(before, members.pace("4711"), kAt + kSecond), 2);
  EXPECT_FALSE(heard_ratio(before, members.pace("4711"), kAt + kHour));
  EXPECT_FALSE(heard_ratio(before, {}, kAt));
}

TEST(Members, ThereIsAnEndToTheirRanks) {
  Members members;
  for (int i = 0; i < 150; ++i)
    members.see(report(fmt::format("h{}", i), std::vector<i64>(10'000, i), 0), kAt);
  EXPECT_EQ(members.hosts("4711").size(), 150u);
  const auto chosen = members.choose("4711", "h149", {}, {}, {5, 149}).ranks;
  EXPECT_EQ(std::ranges::count(chosen, 5), 1);
  EXPECT_EQ(std::ranges::count(chosen, 149), 0);  // one that there was no room for
}

TEST(Members, AreForgotten) {
  Members members;
  members.see(report("gpu02", {2}, 4), kAt);
  members.pass(kAt + Members::kForgotten + 1);
  EXPECT_TRUE(members.hosts("4711").empty());
}

}  // namespace
}  // namespace spotter::respond
