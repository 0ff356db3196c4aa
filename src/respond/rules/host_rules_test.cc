// The rules that look at hosts, their devices and processes.
#include <gtest/gtest.h>

#include "respond/incidents/says.h"
#include "respond/test_rules.h"

namespace spotter::respond {
namespace {

using namespace test;

Table job(std::vector<i64> ranks, i64 world_size = 4) {
  std::vector<Cells> rows;
  for (const i64 rank : ranks)
    rows.push_back({{"job", "4711"}, {"rank", rank}, {"user", "alice"}, {"world_size", world_size}});
  return table_of("job", rows);
}

TEST(RankGone, TellsOfOneWhileOthersGoOn) {
  Machine machine;
  machine.seconds(5, [](int) { return job({0, 1, 2}); });
  machine.seconds(10, [](int) { return job({0, 2}); });
  EXPECT_TRUE(machine.all.empty());
  machine.second({job({0, 2})});
  ASSERT_EQ(machine.firing(), Names{"rank_gone"});
  EXPECT_EQ(machine.all.front().rank, 1);
  EXPECT_EQ(machine.all.front().urgency, Urgency::critical);
}

TEST(RankGone, AJobThatEndsIsNone) {
  Machine machine;
  machine.seconds(5, [](int) { return job({0, 1, 2}); });
  machine.seconds(8, [](int) { return job({0}); });
  machine.seconds(30, [](int) { return table_of("job", {{{"job", "other"}, {"rank", i64{0}}}}); });
  EXPECT_TRUE(machine.all.empty());
}

// The first rank saves for a minute what all have made; the others have ended.
TEST(RankGone, WhoSavesAtTheEndMissesNobody) {
  for (const std::vector<i64>& ranks : std::vector<std::vector<i64>>{{0, 1}, {4, 5}, {0, 1, 2, 3}}) {
    Machine machine;
    machine.seconds(5, [&](int) { return job(ranks); });
    machine.seconds(60, [&](int) { return job({ranks[0]}); });
    EXPECT_TRUE(machine.all.empty()) << ranks.size();
  }
}

TEST(RankGone, OfTwoTheOtherIsMissedWhereStepsGoOnOrTheFirstHasGone) {
  const auto steps = [](Ns age) {
    return table_of("step", {{{"job", "4711"}, {"rank", i64{0}}, {"step_age_ns", age}, {"steps", i64{7}}}});
  };
  for (const bool goes_on : {true, false}) {
    Machine machine;
    for (int i = 0; i < 30; ++i)
      machine.second({job(i < 5 ? std::vector<i64>{0, 1} : std::vector<i64>{0}),
                      steps(goes_on || i < 5 ? 0 : (i - 4) * kSecond)});
    EXPECT_EQ(machine.firing(), goes_on ? Names{"rank_gone"} : Names());
  }
  Machine machine;
  machine.seconds(5, [&](int) { return job({0, 1}); });
  machine.seconds(12, [&](int) { return job({1}); });
  EXPECT_EQ(machine.firing(), Names{"rank_gone"});
}

Table gpus(std::vector<Cells> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const Cells about = {
        {"gpu", static_cast<i64>(i)}, {"job", "4711"}, {"rank", static_cast<i64>(i)}, {"user", "alice"}};
    rows[i].insert(rows[i].begin(), about.begin(), about.end());
  }
  return table_of("gpu", rows);
}

TEST(GpuThrottled, HalfOfAWindow) {
  Machine machine;
  const auto sample = [](bool is_hot) {
    return gpus({{{"throttle_thermal_hw", is_hot},
                  {"sm_clock_hertz", i64{1155000000}},
                  {"sm_clock_max_hertz", i64{1980000000}}},
                 {{"throttle_thermal_hw", false},
                  {"sm_clock_hertz", i64{1980000000}},
                  {"sm_clock_max_hertz", i64{1980000000}}}});
  };
  machine.seconds(60, [&](int i) { return sample(i % 3 == 0); });
  EXPECT_TRUE(machine.all.empty());
  machine.seconds(30, [&](int i) { return sample(i % 3 != 0); });
  ASSERT_EQ(machine.firing(), Names{"gpu_throttled"});
  EXPECT_EQ(machine.all.front().device, "gpu 0");
  EXPECT_EQ(machine.all.front().rank, 0);
  machine.seconds(110, [&](int) { return sample(false); });
  EXPECT_TRUE(machine.firing().empty());
}

// Two ranks of a job on a GPU, another job's on the next, and somebody who is of none.
Table gpu_processes(double others, i64 gpu_of_others = 0) {
  const auto of = [](const char* job, i64 rank, i64 gpu, i64 pid, double busy) {
    const bool has_job = job[0] != 0;
    return Cells{{"gpu", gpu},
                 {"job", has_job ? Value(job) : Value()},
                 {"rank", has_job ? Value(rank) : Value()},
                 {"user", has_job ? "alice" : "bob"},
                 {"instance", Value()},
                 {"pid", pid},
                 {"sm_utilization_ratio", busy}};
  };
  return table_of("gpu_process", {of("4711", 0, 0, 10, 0.2), of("4711", 1, 0, 11, 0.2),
                                  of("4712", 0, 1, 12, 0.7), of("", 0, gpu_of_others, 615, others)});
}

TEST(GpuShared, AProcessThatIsNotOfTheJobIsToldOfToItsRanks) {
  Machine machine;
  machine.seconds(60, [](int i) { return gpu_processes(i % 3 == 0 ? 0.6 : 0.05); });
  EXPECT_TRUE(machine.all.empty()) << "now and then";
  machine.seconds(10, [](int) { return gpu_processes(0.59); });
  ASSERT_EQ(machine.firing(), (Names{"gpu_shared", "gpu_shared"})) << "of the ranks on that GPU alone";
  const Condition& first = machine.all.front();
  EXPECT_EQ(first.job, "4711");
  EXPECT_EQ(first.device, "gpu 0");
  EXPECT_EQ(first.text, "process 615 of bob");
  EXPECT_DOUBLE_EQ(*first.value, 0.59);
  machine.seconds(110, [](int) { return gpu_processes(0.59, 3); });
  EXPECT_TRUE(machine.firing().empty()) << "on another GPU";
}

TEST(GpuShared, JobsThatShareAGpuAreToldOfOneAnother) {
  Machine machine;
  const auto shared = [](int) {
    return table_of("gpu_process", {{{"gpu", i64{0}},
                                     {"job", "a"},
                                     {"rank", i64{0}},
                                     {"user", "alice"},
                                     {"pid", i64{1}},
                                     {"sm_utilization_ratio", 0.5}},
                                    {{"gpu", i64{0}},
                                     {"job", "b"},
                                     {"rank", i64{0}},
                                     {"user", "bob"},
                                     {"pid", i64{2}},
                                     {"sm_utilization_ratio", 0.05}}});
  };
  machine.seconds(20, shared);
  ASSERT_EQ(machine.firing(), Names{"gpu_shared"}) << "b alone has something taken from it";
  EXPECT_EQ(machine.all.front().job, "b");
}

TEST(GpuShared, WhereTheDriverSaysNothingOfProcessesNothingIsKnown) {
  Machine machine;
  machine.seconds(20, [](int) {
    return table_of("gpu_process",
                    {{{"gpu", i64{0}}, {"job", "a"}, {"rank", i64{0}}, {"user", "alice"}, {"pid", i64{1}}},
                     {{"gpu", i64{0}}, {"job", "b"}, {"rank", i64{0}}, {"user", "bob"}, {"pid", i64{2}}}});
  });
  EXPECT_TRUE(machine.all.empty());
}

Table gpu_event(const char* event, i64 xid) {
  return table_of("gpu_event", {{{"gpu", i64{5}},
                                 {"job", "4711"},
                                 {"rank", i64{37}},
                                 {"user", "alice"},
                                 {"event", event},
                                 {"xid", xid},
                                 {"meaning", "off the bus"}}});
}

TEST(GpuFault, StaysUntilSomebodyHasMendedIt) {
  Machine machine;
  machine.second({gpu_event("xid", 13)});
  EXPECT_TRUE(machine.all.empty());
  machine.second({gpu_event("xid", 79)});
  ASSERT_EQ(machine.firing(), Names{"gpu_fault"});
  const Condition fault = machine.all.front();
  EXPECT_EQ(fault.text, "XID 79: off the bus");
  EXPECT_EQ(fault.urgency, Urgency::critical);
  machine.seconds(7200, [](int) { return job({0}); });
  EXPECT_EQ(machine.firing(), Names{"gpu_fault"});
  EXPECT_EQ(machine.rules_.resolve(fingerprint(fault), machine.at).size(), 1u);
  EXPECT_TRUE(machine.firing().empty());
}

// Whatever jobs the GPU has until it is reset.
TEST(GpuMemoryRows, OneOfTheHostUntilTheDriverSaysThatItIsOver) {
  Machine machine;
  const auto rows = [](bool is_pending) {
    return gpus({{{"remap_failed", false}, {"remap_pending", is_pending}}});
  };
  machine.seconds(10, [&](int) { return rows(false); });
  EXPECT_TRUE(machine.all.empty());
  machine.seconds(10, [&](int) { return rows(true); });
  ASSERT_EQ(machine.firing(), Names{"gpu_memory_rows"});
  const Condition condition = machine.all.front();
  EXPECT_EQ(condition.urgency, Urgency::warning);
  EXPECT_EQ(condition.job, "");
  EXPECT_FALSE(condition.rank);
  machine.seconds(30, [&](int second) { return rows(second % 2 == 0); });
  EXPECT_EQ(machine.firing().size(), 1u);
  machine.seconds(65, [&](int) { return rows(false); });
  EXPECT_TRUE(machine.firing().empty());
}

TEST(GpuMemoryRows, OneThatCouldNotBeReplacedIsCritical) {
  Machine machine;
  machine.second({gpus({{{"remap_failed", true}, {"remap_pending", true}}})});
  ASSERT_EQ(machine.firing(), Names{"gpu_memory_rows"});
  EXPECT_EQ(machine.all.front().urgency, Urgency::critical);
}

TEST(GpuFault, TheListOfXidsIsTheUsers) {
  Machine machine({{"gpu_fault", {{"xids", "13, 31"}}}});
  machine.second({gpu_event("xid", 79)});
  EXPECT_TRUE(machine.all.empty());
  machine.second({gpu_event("xid", 13)});
  EXPECT_EQ(machine.firing(), Names{"gpu_fault"});
}

TEST(GpuIdleInJob, AfterFiveMinutes) {
  Machine machine;
  const auto sample = [](double active) { return gpus({{{"utilization_ratio", active}}}); };
  machine.seconds(300, [&](int) { return sample(0.02); });
  EXPECT_TRUE(machine.all.empty());
  machine.seconds(2, [&](int) { return sample(0.02); });
  EXPECT_EQ(machine.firing(), Names{"gpu_idle_in_job"});
  machine.seconds(125, [&](int) { return sample(0.8); });
  EXPECT_TRUE(machine.firing().empty());
}

TEST(GpuIdleInJob, AGpuOfNobodyMayBe) {
  Machine machine;
  machine.seconds(400, [](int) { return table_of("gpu", {{{"gpu", i64{0}}, {"utilization_ratio", 0.0}}}); });
  EXPECT_TRUE(machine.all.empty());
}

TEST(RankOutlier, AClockUnlikeTheOthers) {
  Machine machine;
  const auto sample = [](i64 clock) {
    std::vector<Cells> rows;
    for (i64 i = 0; i < 8; ++i)
      rows.push_back({{"utilization_ratio", 1.0},
                      {"sm_clock_hertz", i == 5 ? clock : i64{1980000000} - 15000000 * (i % 2)}});
    return gpus(rows);
  };
  machine.seconds(120, [&](int) { return sample(1800000000); });  // 9 %: less than 15 %
  EXPECT_TRUE(machine.all.empty());
  machine.seconds(30, [&](int) { return sample(1155000000); });
  ASSERT_EQ(machine.firing(), Names{"rank_outlier"});
  const Condition& outlier = machine.all.front();
  EXPECT_EQ(outlier.rank, 5);
  EXPECT_EQ(outlier.device, "gpu 5 sm_clock_hertz");
  EXPECT_EQ(outlier.value, 1155000000);
  machine.seconds(60, [&](int) { return sample(1980000000); });
  EXPECT_TRUE(machine.firing().empty());
}

TEST(RankOutlier, ALinkThatIsNarrowerOrOlder) {
  struct Case {
    const char* metric;
    i64 usual, odd;
    const char* says;
  };
  for (const Case& c :
       {Case{"pcie_link_width", 16, 8, "rank 5 on n1 (GPU 5): PCIe has 8 lanes, the others 16"},
        Case{"pcie_link_generation", 5, 3, "rank 5 on n1 (GPU 5): PCIe is of generation 3, the others' 5"}}) {
    Machine machine;
    const auto sample = [&](i64 odd) {
      std::vector<Cells> rows;
      for (i64 i = 0; i < 8; ++i)
        rows.push_back({{"utilization_ratio", 1.0}, {c.metric, i == 5 ? odd : c.usual}});
      return gpus(rows);
    };
    machine.seconds(60, [&](int) { return sample(c.usual); });
    EXPECT_TRUE(machine.all.empty());
    machine.seconds(30, [&](int) { return sample(c.odd); });
    ASSERT_EQ(machine.firing(), Names{"rank_outlier"}) << c.metric;
    EXPECT_EQ(says(machine.all.front()), c.says);
  }
}

TEST(LinkErrors, OfPortsAndNvlink) {
  Machine machine;
  const auto ports = [](i64 symbols, i64 downed) {
    return table_of("rdma", {{{"device", "mlx5_0"},
                              {"port", i64{1}},
                              {"symbol_errors", symbols},
                              {"link_error_recovery", i64{3}},
                              {"link_downed", downed}}});
  };
  machine.second({job({0})});
  machine.seconds(100, [&](int) { return ports(5000, 7); });  // old ones are nobody's concern
  machine.seconds(100, [&](int i) { return ports(5000 + i / 11, 7); });
  EXPECT_TRUE(machine.all.empty());
  machine.seconds(3, [&](int) { return ports(5020, 7); });
  ASSERT_EQ(machine.firing(), Names{"link_errors"});
  EXPECT_EQ(machine.all.front().device, "mlx5_0 port 1");
  EXPECT_EQ(machine.all.front().job, "4711");  // the only one here
  machine.second({ports(5020, 8)});
  machine.seconds(31, [&](int) { return ports(5020, 8); });
  EXPECT_EQ(machine.all.back().text, "the link went down");
  Machine other;
  other.seconds(5, [&](int i) { return gpus({{{"nvlink_crc_errors", i64{50} * i}}}); });
  ASSERT_EQ(other.firing(), Names{"link_errors"});
  EXPECT_EQ(other.all.front().device, "gpu 0");
}

TEST(RdmaCongestion, FarMoreThanTheOtherPorts) {
  Machine machine;
  std::vector<i64> counts(8);
  const auto sample = [&](i64 rate) {
    std::vector<Cells> rows;
    for (size_t i = 0; i < counts.size(); ++i) {
      counts[i] += i == 3 ? rate : 2;
      rows.push_back({{"device", i == 3  ? "mlx5_3"
                                 : i < 3 ? "mlx5_0"
                                         : "mlx5_9"},
                      {"port", static_cast<i64>(i)},
                      {"retrans_packets", counts[i]}});
    }
    return table_of("rdma", rows);
  };
  machine.seconds(100, [&](int) { return sample(60); });
  EXPECT_TRUE(machine.all.empty());
  machine.seconds(40, [&](int) { return sample(500); });
  ASSERT_EQ(machine.firing(), Names{"rdma_congestion"});
  EXPECT_EQ(machine.all.front().device, "mlx5_3 port 3");
  EXPECT_NEAR(*machine.all.front().value, 500, 1);
}

TEST(HostStarved, ByResource) {
  Machine machine;
  const auto sample = [](double memory, double cpu) {
    return table_of("pressure", {{{"resource", "memory"},
                                  {"full_avg10_ratio", memory},
                                  {"some_avg60_ratio", 0.9},
                                  {"full_avg60_ratio", 0.0}},
                                 {{"resource", "cpu"},
                                  {"full_avg10_ratio", 0.0},
                                  {"some_avg60_ratio", cpu},
                                  {"full_avg60_ratio", 0.0}}});
  };
  machine.seconds(60, [&](int) { return sample(0.05, 0.4); });
  EXPECT_TRUE(machine.all.empty());
  machine.seconds(31, [&](int) { return sample(0.2, 0.4); });
  ASSERT_EQ(machine.firing(), Names{"host_starved"});
  EXPECT_EQ(machine.all.front().device, "memory");
  machine.seconds(62, [&](int) { return sample(0, 0.4); });
  EXPECT_TRUE(machine.firing().empty());
}

TEST(CpuThrottled, HalfOfThePeriodsOfAJobThatMakesSteps) {
  for (const bool has_steps : {true, false}) {
    Machine machine;
    i64 periods = 0, stopped = 0;
    // Ten periods a second, of which one of these is stopped in so many.
    const auto second = [&](i64 more) {
      periods += 10;
      stopped += more;
      const auto row = [&](const char* group, i64 rank, i64 count) {
        return Cells{{"cgroup", group}, {"job", "4711"},          {"user", "alice"},
                     {"rank", rank},    {"cpu_periods", periods}, {"cpu_throttled_periods", count}};
      };
      std::vector<Table> tables = {
          table_of("cgroup", {row("/job_4711/rank0", 0, 0), row("/job_4711/rank1", 1, stopped)})};
      if (has_steps) tables.push_back(table_of("step", {{{"job", "4711"}, {"steps", i64{3}}}}));
      machine.second(std::move(tables));
    };
    for (int i = 0; i < 60; ++i) second(4);
    EXPECT_TRUE(machine.all.empty());
    for (int i = 0; i < 40; ++i) second(9);
    if (!has_steps) {
      EXPECT_TRUE(machine.all.empty());
      continue;
    }
    ASSERT_EQ(machine.firing(), Names{"cpu_throttled"});
    EXPECT_EQ(machine.all.front().rank, 1);
    EXPECT_EQ(machine.all.front().device, "/job_4711/rank1");
    EXPECT_GE(machine.all.front().value, 0.5);
    for (int i = 0; i < 100; ++i) second(0);
    EXPECT_TRUE(machine.firing().empty());
  }
}

// A limit that is set while the job runs: its periods are counted from then on.
TEST(CpuThrottled, IsSaidWithinSecondsOfALimit) {
  Machine machine;
  i64 periods = 0;
  const auto second = [&] {
    machine.second({table_of("step", {{{"job", "4711"}, {"steps", i64{3}}}}),
                    table_of("cgroup", {{{"cgroup", "/a"},
                                         {"job", "4711"},
                                         {"user", "alice"},
                                         {"rank", i64{2}},
                                         {"cpu_periods", periods},
                                         {"cpu_throttled_periods", periods}}})});
  };
  for (int i = 0; i < 60; ++i) second();
  for (int i = 0; i < 10; ++i) periods += 10, second();
  EXPECT_EQ(machine.firing(), Names{"cpu_throttled"});
}

TEST(OomKill, OfAJobIsCritical) {
  Machine machine;
  const auto group = [](i64 kills) {
    return table_of("cgroup",
                    {{{"cgroup", "/slurm/4711"}, {"job", "4711"}, {"user", "alice"}, {"oom_kills", kills}}});
  };
  machine.second({table_of("vmstat", {{{"oom_kills", i64{9}}}}), group(2)});
  machine.second({table_of("vmstat", {{{"oom_kills", i64{9}}}}), group(2)});
  EXPECT_TRUE(machine.all.empty());
  machine.second({table_of("vmstat", {{{"oom_kills", i64{10}}}}), group(3)});
  ASSERT_EQ(machine.firing(), (Names{"oom_kill", "oom_kill"}));
  for (const Condition& kill : machine.all)
    EXPECT_EQ(kill.urgency, kill.job.empty() ? Urgency::warning : Urgency::critical);
  machine.seconds(16 * 60, [&](int) { return group(3); });
  EXPECT_TRUE(machine.firing().empty());
}

TEST(StorageHangs, AMountThatDoesNotAnswer) {
  Machine machine;
  const auto mount = [](bool answers) {
    return table_of("filesystem", {{{"mount_point", "/data"}, {"reachable", answers}, {"device", "nfs:/x"}}});
  };
  machine.seconds(20, [&](int i) { return mount(i % 2 == 0); });
  EXPECT_TRUE(machine.all.empty());
  machine.seconds(21, [&](int) { return mount(false); });
  ASSERT_EQ(machine.firing(), Names{"storage_hangs"});
  EXPECT_EQ(machine.all.front().device, "/data");
  machine.seconds(32, [&](int) { return mount(true); });
  EXPECT_TRUE(machine.firing().empty());
}

// It is not told again when another job comes and goes, and is not over meanwhile.
TEST(StorageHangs, OfTheJobThatWasAloneForAsLongAsThatIsHere) {
  Machine machine;
  const auto jobs = [](std::vector<const char*> names) {
    std::vector<Cells> rows;
    for (const char* name : names) rows.push_back({{"job", name}, {"rank", i64{0}}});
    return table_of("job", rows);
  };
  const auto hangs = [&](int seconds, const std::vector<const char*>& names) {
    for (int i = 0; i < seconds; ++i)
      machine.second(
          {jobs(names),
           table_of("filesystem", {{{"mount_point", "/data"}, {"reachable", false}, {"device", "nfs:/x"}}})});
    machine.rules_.pass(machine.at);
  };
  hangs(25, {"a"});
  ASSERT_EQ(machine.firing(), Names{"storage_hangs"});
  hangs(300, {"a", "b"});
  ASSERT_EQ(machine.firing(), Names{"storage_hangs"});
  for (const Condition& condition : machine.all) {
    EXPECT_EQ(condition.job, "a");
    EXPECT_TRUE(condition.is_firing);
  }
  machine.all.clear();
  hangs(25, {"b"});
  ASSERT_EQ(machine.all.size(), 2u);
  EXPECT_EQ(machine.all[0].job, "a");
  EXPECT_FALSE(machine.all[0].is_firing);
  EXPECT_TRUE(machine.all[0].has_job_ended);
  EXPECT_EQ(machine.all[1].job, "b");
  EXPECT_TRUE(machine.all[1].is_firing);
}

TEST(LinkErrors, WhatWasBeforeAJobIsNotItsOwn) {
  Machine machine;
  const auto second = [&](const char* name, i64 downed) {
    machine.second({table_of("job", {{{"job", name}, {"rank", i64{0}}}}),
                    table_of("rdma", {{{"device", "mlx5_0"},
                                       {"port", i64{1}},
                                       {"symbol_errors", i64{0}},
                                       {"link_error_recovery", i64{0}},
                                       {"link_downed", downed}}})});
  };
  for (int i = 0; i < 10; ++i) second("a", 0);
  second("a", 1);
  ASSERT_EQ(machine.firing(), Names{"link_errors"});
  for (int i = 0; i < 60; ++i) second("b", 1);
  for (const Condition& condition : machine.all) EXPECT_EQ(condition.job, "a");
  second("b", 2);
  EXPECT_EQ(machine.all.back().job, "b");
}

}  // namespace
}  // namespace spotter::respond
