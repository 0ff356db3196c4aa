// For tests: an incident of each rule, as it is told of on each occasion.
#pragma once
#include <span>
#include <string>

#include "base/time.h"
#include "notify/notifier.h"

namespace spotter::notify {

inline constexpr Ns kTestOpened = 1'795'409'206'123'000'000;  // 2026-11-23T04:46:46.123Z

inline constexpr const char* kTestRules[] = {
    "step_time_up",  "step_time_creep", "step_time_spikes", "progress_stopped", "collective_stuck",
    "rank_gone",     "rank_outlier",    "gpu_throttled",    "gpu_fault",        "gpu_idle_in_job",
    "gpu_shared",    "link_errors",     "rdma_congestion",  "host_starved",     "oom_kill",
    "storage_hangs", "log_error",       "cpu_throttled",    "gpu_memory_rows"};

// What the rule of that name says, with numbers.
inline respond::Condition test_condition(const std::string& rule) {
  using respond::Condition;
  using respond::Urgency;
  Condition c{
      .rule = rule, .job = "4711", .user = "alice", .host = "gpu05", .since = kTestOpened - 30 * kSecond};
  const auto set = [&](const char* family, Urgency urgency, const char* unit, std::optional<double> value,
                       std::optional<double> baseline, const char* source) {
    c.family = family;
    c.urgency = urgency;
    c.unit = unit;
    c.value = value;
    c.baseline = baseline;
    c.source = source;
  };
  const auto of = [&](std::optional<i64> rank, const char* device) {
    c.rank = rank;
    c.device = device;
  };
  if (rule == "step_time_up") {
    set("speed", Urgency::warning, "s", 4.42, 3.10, "profilerStep");
    c.spreads = 17.2;
    c.step = 18250;
    c.rank = 37;
  }
  if (rule == "step_time_creep") set("speed", Urgency::info, "ratio", 0.071, {}, "profilerStep"), of(37, "");
  if (rule == "step_time_spikes") set("speed", Urgency::info, "count", 7, {}, "log:megatron"), of(1023, "");
  if (rule == "progress_stopped")
    set("progress", Urgency::critical, "s", 95, 3.10, "profilerStep"), of(37, "");
  if (rule == "collective_stuck")
    set("progress", Urgency::critical, "count", 3, {}, "NCCL RAS"), of(37, "AllReduce 5");
  if (rule == "rank_gone") set("progress", Urgency::critical, "", {}, {}, "/proc"), of(37, "");
  if (rule == "rank_outlier")
    set("speed", Urgency::warning, "Hz", 1.155e9, 1.98e9, "driver"), of(37, "gpu 5 sm_clock_hertz");
  if (rule == "gpu_throttled") set("gpu", Urgency::warning, "Hz", 1.155e9, 1.98e9, "driver"), of(37, "gpu 5");
  if (rule == "gpu_fault") {
    set("gpu", Urgency::critical, "xid", 79, {}, "driver");
    of(37, "gpu 5");
    c.text = "XID 79: the GPU has fallen off the bus: it cannot be reached";
  }
  if (rule == "gpu_memory_rows") {
    set("gpu", Urgency::warning, "", {}, {}, "driver");
    of({}, "gpu 5");
    c.text = "a memory row waits for a reset to be replaced";
  }
  if (rule == "gpu_idle_in_job") set("gpu", Urgency::warning, "ratio", 0.02, 0.05, "driver"), of(37, "gpu 5");
  if (rule == "gpu_shared") {
    set("gpu", Urgency::info, "ratio", 0.59, {}, "driver");
    of(37, "gpu 5");
    c.text = "process 615 of bob";
  }
  if (rule == "link_errors") {
    set("network", Urgency::warning, "count", 1, 0, "rdma");
    of({}, "mlx5_0 port 1");
    c.text = "the link went down";
  }
  if (rule == "rdma_congestion")
    set("network", Urgency::info, "per_s", 350, 12, "rdma"), of({}, "mlx5_0 port 1");
  if (rule == "host_starved")
    set("host", Urgency::warning, "ratio", 0.23, 0.1, "/proc/pressure"), of({}, "memory");
  if (rule == "cpu_throttled")
    set("host", Urgency::info, "ratio", 0.92, {}, "cgroup"), of(37, "/kubepods/burstable/pod7f3a");
  if (rule == "oom_kill") set("host", Urgency::critical, "count", 3, {}, "cgroup"), of({}, "/slurm/job_4711");
  if (rule == "storage_hangs") {
    set("storage", Urgency::critical, "", {}, {}, "statfs");
    of({}, "/data");
    c.text = "nfs1:/export";
  }
  if (rule == "log_error") {
    set("log", Urgency::critical, "", {}, {}, "log:fatal");
    of(37, "cuda_out_of_memory");
    c.text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB";
  }
  return c;
}

inline Telling test_telling(const std::string& rule, Occasion occasion) {
  using namespace respond;
  const Condition condition = test_condition(rule);
  Incident i{.cluster = "a", .family = condition.family, .n = 2};
  i.job = {"4711", "pretrain", "alice", 1024, 128};
  i.urgency = condition.urgency;
  i.opened = kTestOpened;
  i.updated = kTestOpened + 45 * kSecond;
  i.led_by = "gpu01";
  const bool is_of_job = condition.unit == "s" || rule == "step_time_creep" || rule == "step_time_spikes";
  i.symptom = {rule,
               condition.source,
               condition.unit,
               condition.baseline,
               condition.value,
               condition.spreads,
               condition.step,
               condition.since,
               is_of_job ? 128 : 1};
  i.conditions = {condition};
  i.condition_count = is_of_job ? 128 : 1;
  i.state = IncidentState::firing;
  i.sequence = 1;
  if (occasion == Occasion::opened) return {i, occasion, i.opened};
  i.sequence = 2;
  i.captures = {{"c17", "0,8,16,24,32,37,40,48", "/tmp/spotter/4711-speed-2", 3, 1.06, 1.00, 1.1}};
  i.against = {"network: no errors on the links of gpu05",
               "GPUs: nobody else works on those of the job on gpu05", "code: same commit for 3 days"};
  i.not_known = {"1,016 ranks were not traced"};
  i.state = IncidentState::inconclusive;
  if (i.family == "progress" || i.family == "log") i.captures.clear();
  if (!i.captures.empty()) i.report = ReportOfIncident{"gpu01", 1000};
  if (rule == "gpu_throttled") i.conditions.push_back(test_condition("rank_outlier"));
  if (rule == "progress_stopped") i.conditions.push_back(test_condition("oom_kill"));
  if (occasion == Occasion::verdict || occasion == Occasion::resolved) {
    i.state = IncidentState::verdict;
    i.verdict =
        Verdict{"slow_device",
                Confidence::high,
                {{37, "gpu05", 5}},
                1.29,
                "Rank 37 (host gpu05) computes 41 % longer for the same work than the 7 others in all 3 "
                "steps; without that a step takes 1.29 s (29 %) less.",
                "Compare its clocks, power and temperature with its peers' (spotter metrics --metric "
                "'gpu_*'): a power cap, cooling or another process on it may be why; if it is none of "
                "them, replace the device."};
    i.evidence = {
        {i.verdict->sentence,
         "kernel_breakdown",
         {{"rank", "37"}},
         "spotter analyze /tmp/spotter/4711-speed-2 --table kernel_breakdown --ranks 37"},
        {"rank 37 on gpu05 (GPU 5): SM clock 1155 MHz (before: 1980 MHz), the median of 8 ranks is 1980 MHz",
         "",
         {{"host", "gpu05"}},
         "spotter metrics --since 10m --metric gpu_sm_clock_hertz --host gpu05"}};
  }
  if (occasion == Occasion::resolved) {
    i.state = IncidentState::resolved;
    i.over = i.opened + 7 * kMinute;
    i.closed = i.over + 5 * kMinute;
    i.sequence = 3;
    return {i, occasion, i.closed};
  }
  return {i, occasion, i.updated};
}

// What four jobs of a host share.
inline Telling shared_telling(Occasion occasion) {
  Telling telling =
      test_telling("step_time_up", occasion == Occasion::resolved ? occasion : Occasion::opened);
  respond::Incident& i = telling.incident;
  i.job = {};
  i.host = i.led_by = "gpu05";
  i.shared_by = respond::SharedBy{
      .jobs = {"4711", "4712", "4713", "4714"}, .job_count = 4, .hosts = {"gpu05", "gpu06"}};
  i.symptom.hosts = 1;
  i.conditions.resize(3, i.conditions.front());
  for (size_t k = 1; k < 3; ++k) {
    i.conditions[k].job = i.shared_by->jobs[k];
    i.conditions[k].user = "bob";
    i.conditions[k].value = 4.42 + static_cast<double>(k);
  }
  i.condition_count = 4;
  i.captures.clear();
  i.evidence.clear();
  i.against.clear();
  i.not_known = {"nothing was traced for it: that is done for its jobs' own incidents"};
  i.verdict.reset();
  i.report.reset();
  if (i.is_open()) i.state = respond::IncidentState::inconclusive;
  telling.occasion = occasion;
  return telling;
}

}  // namespace spotter::notify
