#include "diagnose/diagnose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "base/time.h"
#include "diagnose/list.h"
#include "table/ops.h"

namespace spotter::diagnose {
namespace {

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
JobFacts facts_of(std::vector<RankFacts> ranks, i64 count = 1000, Ns sum = 100 * kMillisecond) {
  JobFacts facts;
  facts.ranks = std::move(ranks);
  facts.kernels = Table("kernels", kKernels);
  for (int i = 0; i < 10; i++)
    facts.kernels.append(
        {"compute", std::string_view("0123456789").substr(static_cast<size_t>(i), 1), count / 10, sum / 10});
  facts.kernel_count = count;
  facts.kernel_time = sum;
  facts.operators = Table("operators", kOperators);
  facts.has_device_work = true;
  return facts;
}

// What the finding that begins so says and advises; empty if there is none.
std::string said(const JobFacts& facts, std::string_view beginning) {
  const Table found = findings(facts);
  for (size_t row = 0; row < found.rows(); row++) {
    const std::string_view finding = found.text(row, found.column("finding"));
    const std::string_view remedy = table::text_or_empty(found, row, "remedy");
    if (finding.starts_with(beginning))
      return fmt::format("{}{}{}", finding, remedy.empty() ? "" : " ", remedy);
  }
  return {};
}

TEST(Diagnose, OneIdleRankAmongManyIsNamedAlsoWithoutSteps) {
  std::vector<RankFacts> ranks;
  for (i64 i = 0; i < 8; i++) ranks.push_back(rank(i, 5 * kMillisecond, kMillisecond / 5));
  EXPECT_EQ(said(facts_of(ranks), "The device of rank"), "");
  ranks[3] = rank(3, 10 * kMillisecond, 5 * kMillisecond);
  EXPECT_EQ(said(facts_of(ranks), "The device of rank"),
            "The device of rank 3 takes 10.0 ms and is idle for 50 % of it; the others (median) take 5.00 ms "
            "and 4 %. Look at this rank first, with --ranks 3.");
  ranks[3] = rank(3, 5 * kMillisecond, kMillisecond);  // as long, but idle
  EXPECT_NE(said(facts_of(ranks), "The device of rank 3 takes 5.00 ms and is idle for 20 %"), "");
}

TEST(Diagnose, WhoWaitsInCollectivesIsSaidByEvidenceOnly) {
  std::vector<RankFacts> ranks = {rank(0, 10 * kMillisecond, kMillisecond),
                                  rank(1, 10 * kMillisecond, kMillisecond)};
  ranks[1].compute = 5 * kMillisecond;
  ranks[0].communication = ranks[0].hidden_communication = kMillisecond;
  ranks[1].communication = ranks[1].hidden_communication = kMillisecond;
  EXPECT_EQ(
      said(facts_of(ranks), "The device of rank 0"),
      "The device of rank 0 computes for 9.00 ms, that of rank 1 only for 5.00 ms: the work is uneven.");
  ranks[1].communication = ranks[1].hidden_communication = 4 * kMillisecond;
  EXPECT_EQ(said(facts_of(ranks), "The device of rank 0"),
            "The device of rank 0 computes for 9.00 ms, that of rank 1 only for 5.00 ms: the latter "
            "communicates longer, 4.00 ms against 1.00 ms.");
}

TEST(Diagnose, ShortKernelsAreToBlameOnlyWhereTheGapsAreLaunches) {
  RankFacts r = rank(0, 100 * kMillisecond, 50 * kMillisecond);
  r.host_wait = 50 * kMillisecond;
  r.host_gaps = 5000;  // 10 µs each
  EXPECT_NE(said(facts_of({r}, 10'000, 40 * kMillisecond), "The device does nothing").find("CUDA graphs"),
            std::string::npos);
  r.host_gaps = 4;
  const std::string text = said(facts_of({r}, 10'000, 40 * kMillisecond), "The device does nothing");
  EXPECT_EQ(text.find("CUDA graphs"), std::string::npos);
  EXPECT_NE(text.find("gaps of 12.5 ms on average. Look for host work"), std::string::npos);
}

TEST(Diagnose, WorkOutsideOperatorsIsNotCalledGraphs) {
  RankFacts r = rank(0, 100 * kMillisecond, 0);
  r.device_rows = 1000;
  JobFacts facts = facts_of({r});
  facts.operators.append({"aten::mm", 1, kMillisecond, 4 * kMillisecond});
  facts.operator_device_time = 4 * kMillisecond;
  EXPECT_EQ(
      said(facts, "Operators start"),
      "Operators start only 4 % of the device work; the rest was launched outside any operator. The kernels "
      "tell more than the operators here.");
  facts.ranks[0].unlaunched_rows = 900;
  EXPECT_NE(said(facts, "Operators start").find("the launches of most are not in the trace"),
            std::string::npos);
  facts.ranks[0].unlaunched_rows = 1;  // which may be the longest
  EXPECT_NE(said(facts, "Operators start").find("outside any operator, or its launches are not in the trace"),
            std::string::npos);
}

TEST(Diagnose, BlameIsSharedAsItIs) {
  const auto job = [](const std::vector<Ns>& caused) {
    std::vector<RankFacts> ranks;
    for (const Ns ns : caused) {
      RankFacts& r = ranks.emplace_back(rank(std::ssize(ranks), 100 * kMillisecond, kMillisecond));
      r.collectives = 10;
      r.caused_wait = ns * kMillisecond;
      r.own_wait = 30 * kMillisecond;
    }
    return said(facts_of(ranks), "Ranks wait");
  };
  EXPECT_NE(job({1, 20, 1, 2}).find("83 % of that is for rank 1, which begins last. Look"),
            std::string::npos);
  EXPECT_NE(job({1, 20, 19, 2}).find("Most is for rank 1 (48 %) and rank 2 (45 %), which"),
            std::string::npos);
  EXPECT_NE(job(std::vector<Ns>(8, 10))
                .find("No two ranks are behind half of that; rank 0 is most of all, with 12 %"),
            std::string::npos);
}

// A rank whose clock goes behind looks like one that is waited for; what else is found of the others is told
// then.
TEST(Diagnose, ClocksThatDifferHideNoIdleRank) {
  std::vector<RankFacts> ranks = {rank(0, 100 * kMillisecond, 50 * kMillisecond),
                                  rank(1, 100 * kMillisecond, kMillisecond)};
  for (RankFacts& r : ranks) r.collectives = 10;
  ranks[0].own_wait = ranks[1].caused_wait = 40 * kMillisecond;
  JobFacts facts = facts_of(ranks);
  EXPECT_EQ(said(facts, "The device of rank 0 takes"), "");
  facts.clocks_may_differ = true;
  EXPECT_NE(said(facts, "The device of rank 0 takes"), "");
}

// The rules that find something, in order.
std::vector<std::string> found_by(const JobFacts& facts) {
  std::vector<std::string> names;
  const Table found = findings(facts);
  for (size_t row = 0; row < found.rows(); row++) names.emplace_back(found.text(row, 0));
  return names;
}

void set_steps(RankFacts& r, std::vector<Ns> durations) {
  r.steps = std::ssize(durations);
  r.step_sum = std::accumulate(durations.begin(), durations.end(), Ns{0});
  r.step_max = std::ranges::max(durations);
  r.longest_step = std::ranges::max_element(durations) - durations.begin();
  r.step_durations = std::move(durations);
}

RankFacts waiting(Ns RankFacts::* cause, Ns kernel_gap = 0) {
  RankFacts r = rank(0, 100 * kMillisecond, 50 * kMillisecond);
  r.*cause = 50 * kMillisecond;
  r.host_gaps = kernel_gap > 0 ? 50 * kMillisecond / kernel_gap : 1;
  r.steps = 1;
  return r;
}

// Facts of one rank with a device, whose operators are these.
JobFacts facts_with(std::vector<DeviceFacts> devices, std::initializer_list<const char*> operators) {
  RankFacts r = rank(0, kSecond, 0);
  r.divided = kSecond;
  r.steps = 1;
  r.devices = std::move(devices);
  JobFacts facts = facts_of({r});
  for (const char* name : operators) {
    facts.operators.append({name, i64{1}, kMillisecond, kSecond / 4});
    facts.operator_device_time += kSecond / 4;
  }
  return facts;
}

DeviceFacts hopper() {
  return {.id = 1,
          .name = "H100",
          .memory = i64{80} << 30,
          .compute_major = 9,
          .on_tensor_cores = 0.0,
          .perhaps_on_tensor_cores = 0.0};
}

// A job that each rule is for, and what else is found there.
TEST(Diagnose, EachRuleFindsItsJobAndNoneABusyOne) {
  std::map<std::string, JobFacts> jobs;
  const auto one = [](RankFacts r, i64 kernels = 1000) {
    r.steps = std::max<i64>(r.steps, 1);
    return facts_of({r}, kernels);
  };
  const auto two = [](const std::function<void(RankFacts&)>& change) {
    std::vector<RankFacts> ranks = {rank(0, 100 * kMillisecond, kMillisecond),
                                    rank(1, 100 * kMillisecond, kMillisecond)};
    for (RankFacts& r : ranks) {
      r.steps = 1;
      r.step_sum = r.step_max = 100 * kMillisecond;
    }
    change(ranks[1]);
    return facts_of(ranks);
  };
  EXPECT_TRUE(found_by(one(rank(0, 100 * kMillisecond, kMillisecond))).empty());
  EXPECT_TRUE(found_by(two([](RankFacts&) {})).empty());

  jobs["launch_bound"] = one(waiting(&RankFacts::host_wait, 10'000), 100'000);
  jobs["host_bound"] = one(waiting(&RankFacts::host_wait));
  jobs["idle_for_others"] = one(waiting(&RankFacts::other_wait));
  jobs["idle_for_unknown"] = one(waiting(&RankFacts::unknown_wait));
  jobs["idle_between_kernels"] = one(waiting(&RankFacts::kernel_wait));
  jobs["idle_for_no_one_cause"] = one(rank(0, 100 * kMillisecond, 20 * kMillisecond));
  jobs["device_uncovered"] = one(rank(0, 100 * kMillisecond, kMillisecond));
  jobs["device_uncovered"].ranks[0].span = 200 * kMillisecond;
  jobs["exposed_communication"] = one(rank(0, 100 * kMillisecond, kMillisecond));
  jobs["exposed_communication"].ranks[0].communication = 20 * kMillisecond;
  jobs["ranks_out_of_step"] = two([](RankFacts& r) { r.step_sum = 110 * kMillisecond; });
  jobs["slow_rank"] = two([](RankFacts& r) { r.device_time = 110 * kMillisecond; });
  jobs["idle_rank"] = two([](RankFacts& r) { r.idle = 14 * kMillisecond; });
  jobs["uneven_work"] = two([](RankFacts& r) { r.compute = 90 * kMillisecond; });
  jobs["long_step"] = one(rank(0, 100 * kMillisecond, kMillisecond));
  set_steps(jobs["long_step"].ranks[0],
            {20 * kMillisecond, 20 * kMillisecond, 20 * kMillisecond, 40 * kMillisecond});
  jobs["uneven_steps"] = one(rank(0, 100 * kMillisecond, kMillisecond));
  set_steps(jobs["uneven_steps"].ranks[0],
            {20 * kMillisecond, 40 * kMillisecond, 20 * kMillisecond, 40 * kMillisecond, 20 * kMillisecond});
  jobs["waits_for_rank"] = two([](RankFacts& r) { r.own_wait = 30 * kMillisecond; });
  for (RankFacts& r : jobs["waits_for_rank"].ranks) r.collectives = 10;
  jobs["waits_for_rank"].ranks[0].caused_wait = 30 * kMillisecond;
  jobs["captures_apart"] = two([](RankFacts& r) { r.step_sum = 110 * kMillisecond; });
  jobs["captures_apart"].are_apart = true;
  jobs["no_events"].ranks.resize(1);
  jobs["no_device_work"].ranks = {rank(0, 0, 0)};
  jobs["no_device_work"].ranks[0].steps = 1;
  jobs["no_steps"] = facts_of({rank(0, 100 * kMillisecond, kMillisecond)});
  jobs["work_outside_operators"] = one(rank(0, 100 * kMillisecond, kMillisecond));
  jobs["work_outside_operators"].operators.append({"aten::mm", 1, kMillisecond, 0});
  jobs["dominant_kernel"] = one(rank(0, 100 * kMillisecond, kMillisecond));
  jobs["dominant_kernel"].kernel_time = 30 * kMillisecond;  // each of the ten takes 10 ms
  jobs["dominant_operator"] = jobs["no_device_work"];
  jobs["dominant_operator"].operators = Table("operators", kOperators);
  jobs["dominant_operator"].operators.append({"aten::mm", 1, 3 * kMillisecond, 0});
  jobs["dominant_operator"].operators.append({"aten::add", 1, kMillisecond, 0});
  jobs["dominant_operator"].operator_host_time = 4 * kMillisecond;

  jobs["data_loading"] = facts_with({}, {});
  jobs["data_loading"].ranks[0].data_loading = kSecond / 10;
  DeviceFacts full = hopper();
  full.peak_allocated = full.memory;
  jobs["memory_limit"] = facts_with({full}, {});
  jobs["no_tensor_cores"] = facts_with({hopper()}, {"aten::mm"});
  jobs["data_parallel"] = facts_with({hopper(), hopper()}, {"DataParallel.forward"});
  jobs["slow_backend"] = facts_with({hopper()}, {"DistributedDataParallel.forward"});
  jobs["slow_backend"].ranks[0].world_size = 8;

  for (const Rule* rule : all_rules()) {
    ASSERT_TRUE(jobs.contains(rule->name)) << rule->name << " has no job";
    std::vector<std::string> wanted = {rule->name};
    if (wanted[0] == "dominant_operator") wanted.insert(wanted.begin(), "no_device_work");
    EXPECT_EQ(found_by(jobs[rule->name]), wanted);
  }
}

TEST(Diagnose, WaitingForData) {
  JobFacts facts = facts_with({}, {});
  const std::string of_all = "5 % of the steps (50.0 ms) is waiting for the data loader's";
  facts.ranks[0].data_loading = kSecond / 20;
  EXPECT_NE(said(facts, of_all), "");
  facts.ranks[0].data_loading = kSecond / 21;
  EXPECT_EQ(said(facts, "5 % of the steps"), "");
  facts.ranks.push_back(facts.ranks[0]);
  facts.ranks[1].rank = 1;
  facts.ranks[1].data_loading = kSecond / 5;
  EXPECT_NE(said(facts, "20 % of the steps of rank 1 (200 ms) is waiting"), "");
  facts.ranks[0].data_loading = kSecond / 10;
  EXPECT_NE(said(facts, "15 % of the steps (300 ms) is waiting"), "");
}

TEST(Diagnose, MemoryNearItsLimit) {
  DeviceFacts device = hopper();
  device.peak_allocated = i64{73} << 30;
  EXPECT_EQ(said(facts_with({hopper(), device}, {}), "At its peak").substr(0, 86),
            "At its peak rank 0 has 91 % of the memory of device 1 in use (73.0 GiB of 80.0 GiB). S");
  device.peak_allocated = i64{71} << 30;
  EXPECT_EQ(said(facts_with({device}, {}), "At its peak"), "");
  device.memory = 0;  // not told
  EXPECT_EQ(said(facts_with({device}, {}), "At its peak"), "");
}

TEST(Diagnose, TensorCoresThatNobodyUses) {
  EXPECT_EQ(said(facts_with({hopper()}, {"aten::mm", "aten::add"}), "No kernel runs").substr(0, 82),
            "No kernel runs on tensor cores, but 50 % of the operators' device time (250 ms) is");
  EXPECT_EQ(said(facts_with({hopper()}, {"aten::mul", "aten::add"}), "No kernel runs"), "");
  DeviceFacts other = hopper();
  other.on_tensor_cores = 0.1;
  EXPECT_EQ(said(facts_with({hopper(), other}, {"aten::mm"}), "No kernel runs"), "");
  other = hopper();
  other.perhaps_on_tensor_cores = 0.3;  // names that tell nothing
  EXPECT_EQ(said(facts_with({other}, {"aten::mm"}), "No kernel runs"), "");
  other = hopper();
  other.compute_major = 6;  // Pascal has none
  EXPECT_EQ(said(facts_with({other}, {"aten::mm"}), "No kernel runs"), "");
  EXPECT_EQ(said(facts_with({}, {"aten::mm"}), "No kernel runs"), "");
}

TEST(Diagnose, OneProcessForSeveralDevices) {
  EXPECT_EQ(said(facts_with({hopper(), hopper()}, {"DataParallel.forward"}), "DataParallel").substr(0, 47),
            "DataParallel drives 2 devices from one process:");
  EXPECT_EQ(said(facts_with({hopper()}, {"DataParallel.forward"}), "DataParallel"), "");
  EXPECT_EQ(said(facts_with({hopper(), hopper()}, {"aten::mm"}), "DataParallel"), "");
}

TEST(Diagnose, GradientsThatGoThroughTheHost) {
  const auto job = [](Ns communication, std::optional<i64> world_size) {
    JobFacts facts = facts_with({hopper()}, {"DistributedDataParallel.forward"});
    facts.ranks[0].communication = communication;
    facts.ranks[0].world_size = world_size;
    return facts;
  };
  EXPECT_NE(said(job(0, 8), "DistributedDataParallel trains on devices"), "");
  EXPECT_EQ(said(job(kMillisecond, 8), "DistributedDataParallel"), "");
  EXPECT_EQ(said(job(0, 1), "DistributedDataParallel"), "");
  EXPECT_EQ(said(job(0, {}), "DistributedDataParallel"), "");
}

}  // namespace
}  // namespace spotter::diagnose
