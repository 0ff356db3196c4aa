#include "diagnose/diagnose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "analyze/list.h"
#include "base/time.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/rules/list.h"
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
  facts.kernel_time = sum;
  facts.operators = Table("operators", kOperators);
  facts.has_device_work = true;
  return facts;
}

// What the finding that begins so says and advises; empty if there is none.
std::string said(const JobFacts& facts, std::string_view beginning) {
  const Table found = findings(facts, JobModel({}), {}, "");
  for (size_t row = 0; row < found.rows(); row++) {
    const std::string_view finding = found.text(row, found.column("finding"));
    const std::string_view remedy = table::text_or_empty(found, row, "remedy");
    if (finding.starts_with(beginning))
      return fmt::format("{}{}{}", finding, remedy.empty() ? "" : " ", remedy);
  }
  return {};
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

// The rules that find something, in order.
std::vector<std::string> found_by(const JobFacts& facts) {
  std::vector<std::string> names;
  const Table found = findings(facts, JobModel({}), {}, "");
  for (size_t row = 0; row < found.rows(); row++) names.emplace_back(found.text(row, 0));
  return names;
}

// Facts of one rank with a device, whose operators are these.
JobFacts facts_with(std::vector<DeviceFacts> devices, std::initializer_list<const char*> operators) {
  RankFacts r = rank(0, kSecond, 0);
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

  jobs["captures_apart"] = two([](RankFacts& r) { r.step_sum = 110 * kMillisecond; });
  jobs["captures_apart"].are_apart = true;
  jobs["no_events"].ranks.resize(1);
  jobs["no_device_work"].ranks = {rank(0, 0, 0)};
  jobs["no_device_work"].ranks[0].steps = 1;
  jobs["no_steps"] = facts_of({rank(0, 100 * kMillisecond, kMillisecond)});
  jobs["replay_differs"] = one(rank(0, 100 * kMillisecond, kMillisecond));
  jobs["replay_differs"].recorded_a_step = 29 * kMillisecond;
  jobs["replay_differs"].replayed_a_step = 38 * kMillisecond;
  jobs["work_outside_operators"] = one(rank(0, 100 * kMillisecond, kMillisecond));
  jobs["work_outside_operators"].operators.append({"aten::mm", 1, kMillisecond, 0});
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
    EXPECT_EQ(found_by(jobs[rule->name]), wanted);
  }
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
  EXPECT_EQ(said(facts_with({hopper()}, {"aten::mm", "aten::add"}), "No kernel is known").substr(0, 93),
            "No kernel is known to run on tensor cores, but 50 % of the operators' device time (250 ms) is");
  EXPECT_EQ(said(facts_with({hopper()}, {"aten::mul", "aten::add"}), "No kernel is known"), "");
  DeviceFacts other = hopper();
  other.on_tensor_cores = 0.1;
  EXPECT_EQ(said(facts_with({hopper(), other}, {"aten::mm"}), "No kernel is known"), "");
  other = hopper();
  other.perhaps_on_tensor_cores = 0.07;  // names that tell nothing, as attention's in float32
  EXPECT_NE(said(facts_with({other}, {"aten::mm"}), "No kernel is known"), "");
  other.perhaps_on_tensor_cores = 0.3;
  EXPECT_EQ(said(facts_with({other}, {"aten::mm"}), "No kernel is known"), "");
  other = hopper();
  other.compute_major = 6;  // Pascal has none
  EXPECT_EQ(said(facts_with({other}, {"aten::mm"}), "No kernel is known"), "");
  EXPECT_EQ(said(facts_with({}, {"aten::mm"}), "No kernel is known"), "");
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

TEST(Evidence, NamesTablesThatThereAre) {
  const auto expect_tables = [](const char* name, std::string_view evidence) {
    constexpr std::string_view kFlag = "--table ";
    for (size_t at = evidence.find(kFlag); at != evidence.npos; at = evidence.find(kFlag, at + 1)) {
      const std::string_view rest = evidence.substr(at + kFlag.size());
      const std::string table(rest.substr(0, rest.find(' ')));
      EXPECT_TRUE(analyze::find_analysis(table)) << name << ": " << table;
    }
  };
  for (const Mechanism* mechanism : all_mechanisms()) expect_tables(mechanism->name, mechanism->evidence);
  for (const Rule* rule : all_rules()) expect_tables(rule->name, rule->evidence);
}

}  // namespace
}  // namespace spotter::diagnose
