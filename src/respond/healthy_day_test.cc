// A whole day of a healthy host, from its samples through the rules to the incidents: nothing is told, and
// nobody is traced. Five jobs of four ranks run one after the other, each with another kind of healthy
// noise, with checkpoints that write, evaluations, a planned restart and their ends; beside them what hosts
// do: clocks that differ, links with an error now and then, a file server that is slow for some seconds.
//
// Steps take 5 s and are sampled each 5 s, what is the host's each 10 s, and there are four ranks, as few as
// are compared with one another: so the day takes seconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "respond/incidents/incidents.h"
#include "respond/rules.h"
#include "respond/statistics/test_noise.h"

namespace spotter::respond {
namespace {

using test::Noise;
using test::NoisySteps;

constexpr Ns kBegin = 1'795'000'000 * kSecond;
constexpr Ns kPeriod = 5 * kSecond;
constexpr i64 kRanks = 4, kTook = 5;  // s

constexpr Field column(const char* name, Type type) { return {name, type, Unit::none, Role::value, ""}; }
constexpr Field kSteps[] = {column("job", Type::text),
                            column("rank", Type::integer),
                            column("user", Type::text),
                            column("source", Type::text),
                            column("step_ns", Type::integer),
                            column("step_longest_ns", Type::integer),
                            column("step_age_ns", Type::integer),
                            column("steps", Type::integer)};
constexpr Field kJobs[] = {column("job", Type::text), column("rank", Type::integer),
                           column("user", Type::text), column("world_size", Type::integer),
                           column("write_bytes", Type::integer)};
constexpr Field kGpus[] = {column("gpu", Type::integer),
                           column("job", Type::text),
                           column("rank", Type::integer),
                           column("user", Type::text),
                           column("utilization_ratio", Type::real),
                           column("sm_clock_hertz", Type::integer),
                           column("sm_clock_max_hertz", Type::integer),
                           column("memory_clock_hertz", Type::integer),
                           column("throttle_hw_slowdown", Type::flag),
                           column("throttle_thermal_sw", Type::flag),
                           column("remap_failed", Type::flag),
                           column("remap_pending", Type::flag),
                           column("nvlink_crc_errors", Type::integer)};
constexpr Field kFilesystems[] = {column("mount_point", Type::text), column("reachable", Type::flag),
                                  column("device", Type::text)};
constexpr Field kPressure[] = {column("resource", Type::text), column("full_avg10_ratio", Type::real),
                               column("some_avg60_ratio", Type::real),
                               column("full_avg60_ratio", Type::real)};
constexpr Field kPorts[] = {
    column("device", Type::text),           column("port", Type::integer),
    column("symbol_errors", Type::integer), column("link_error_recovery", Type::integer),
    column("link_downed", Type::integer),   column("retrans_packets", Type::integer),
    column("np_cnp_sent", Type::integer)};

// A job whose ranks step together.
class Job {
 public:
  Job(std::string name, Noise noise, Ns began) : name_(std::move(name)), noise_(noise, 17) { start(began); }

  const std::string& name() const { return name_; }
  bool saves() const { return saves_; }
  bool is_busy() const { return !saves_ && steps_ > 0; }
  double slower = 1;

  // It runs on until then.
  void advance(Ns at) {
    ended_.clear();
    for (; next_ <= at; plan()) {
      ended_.push_back(next_ - last_);
      last_ = next_;
      ++steps_;
    }
    if (saves_) written_ += 100'000'000 * (kPeriod / kSecond);  // of each rank
  }
  // Its processes are new ones: what they have done until now is another's.
  void start(Ns at) {
    steps_ = written_ = 0;
    last_ = at;
    next_ = at + 80 * kSecond;  // it is compiled first
    saves_ = false;
  }
  Table step_table(Ns at) const {
    Table table("step", kSteps);
    std::vector<Ns> took = ended_;
    std::ranges::sort(took);
    const bool has_steps = !took.empty();
    for (i64 rank = 0; rank < kRanks; ++rank)
      table.append({std::string_view(name_), rank, "alice", "profilerStep",
                    has_steps ? Value(took[(took.size() - 1) / 2]) : Value(),
                    has_steps ? Value(took.back()) : Value(), steps_ > 0 ? Value(at - last_) : Value(),
                    steps_});
    return table;
  }
  void add_to(Table& jobs, i64 ranks) const {
    for (i64 rank = 0; rank < ranks; ++rank)
      jobs.append({std::string_view(name_), rank, "alice", kRanks, written_});
  }

 private:
  // An evaluation each hour, a checkpoint between two of them; noise may have its own.
  void plan() {
    const i64 number = steps_ + 1;
    Ns took = kTook * noise_.next(slower).took;
    if (number % 720 == 0) took += 45 * kSecond;
    const bool is_checkpoint = number % 720 == 360 || took >= kMinute;
    if (number % 720 == 360) took += 90 * kSecond;
    saves_ = is_checkpoint;
    next_ = last_ + took;
  }

  std::string name_;
  NoisySteps noise_;
  i64 steps_ = 0, written_ = 0;
  Ns last_ = 0, next_ = 0;
  bool saves_ = false;
  std::vector<Ns> ended_;
};

class Host {
 public:
  // One sample: of the job's processes `ranks` are here.
  void sample(Job* job, i64 ranks = kRanks) {
    at += kPeriod;
    Batch batch{.unix_ns = at, .period_ns = kPeriod, .tables = {}};
    Table jobs("job", kJobs);
    if (job) {
      job->advance(at);
      job->add_to(jobs, ranks);
    }
    batch.tables.push_back(std::move(jobs));
    if (job && ranks == kRanks) batch.tables.push_back(job->step_table(at));
    if (++samples_ % 2 == 0) {
      batch.tables.push_back(gpus(job));
      batch.tables.push_back(filesystems());
      batch.tables.push_back(pressure(job));
      batch.tables.push_back(ports());
    }
    for (const Condition& change : rules_.add(batch)) take(change);
    for (const Condition& change : rules_.pass(at)) take(change);
    for (const Condition& again : rules_.again(at)) take(again);
    keep(incidents_.pass(at));
  }
  void run(Job& job, Ns time) {
    for (const Ns end = at + time; at < end;) sample(&job);
  }
  void rest(Ns time) {
    for (const Ns end = at + time; at < end;) sample(nullptr);
  }

  Ns at = kBegin;
  std::vector<std::string> told;    // rules and words
  std::vector<std::string> wanted;  // rules
  std::set<std::string> conditions;

 private:
  bool chance(i64 of) { return random_() % static_cast<u64>(of) == 0; }
  double share(double most) { return most * static_cast<double>(random_() % 1000) / 1000; }

  Table gpus(const Job* job) {
    Table table("gpu", kGpus);
    const bool is_busy = job && job->is_busy();
    for (i64 gpu = 0; gpu < kRanks; ++gpu) {
      crc_ += chance(2000);
      const bool is_held = samples_ / 2 % 6 == gpu;  // one sample a minute
      table.append({gpu, job ? Value(std::string_view(job->name())) : Value(), job ? Value(gpu) : Value(),
                    job ? Value("alice") : Value(), is_busy ? 0.9 + share(0.1) : share(0.03),
                    i64{1'980'000'000} - i64{15'000'000} * static_cast<i64>(random_() % 8),
                    i64{1'980'000'000}, i64{2'619'000'000}, false, is_held, false, false, crc_});
    }
    return table;
  }
  // A file server that is slow for 15 s now and then.
  Table filesystems() {
    if (chance(500)) slow_until_ = at + 15 * kSecond;
    Table table("filesystem", kFilesystems);
    table.append({"/", true, "/dev/sda1"});
    table.append({"/data", at >= slow_until_, "nfs:/data"});
    return table;
  }
  Table pressure(const Job* job) {
    Table table("pressure", kPressure);
    const bool saves = job && job->saves();
    table.append({"memory", share(0.05), share(0.1), share(0.02)});
    table.append({"cpu", 0.0, share(0.4), 0.0});
    table.append({"io", share(0.2), share(0.5), saves ? 0.2 + share(0.08) : share(0.05)});
    return table;
  }
  // Some send again, and now and then all of them do.
  Table ports() {
    Table table("rdma", kPorts);
    if (chance(300)) crowded_until_ = at + kMinute;
    for (size_t port = 0; port < packets_.size(); ++port) {
      packets_[port] += static_cast<i64>(random_() % (at < crowded_until_ ? 2000 : 50));
      symbols_ += chance(10'000);
      table.append(
          {"mlx5_0", static_cast<i64>(port), symbols_, i64{3}, i64{1}, packets_[port], packets_[port]});
    }
    return table;
  }

  void take(const Condition& condition) {
    if (condition.is_firing) conditions.insert(condition.rule);
    keep(incidents_.take(condition, at));
  }
  void keep(const Incidents::Changes& changes) {
    for (const IncidentChange& change : changes) {
      if (change.word != Word::none) told.push_back(change.incident.symptom.rule);
      if (change.wants_evidence) wanted.push_back(change.incident.symptom.rule);
    }
  }

  Rules rules_{{.host = "gpu01"}};
  Incidents incidents_{{.cluster = "a", .host = "gpu01"}};
  std::mt19937_64 random_{4711};
  std::vector<i64> packets_ = std::vector<i64>(4);
  i64 samples_ = 0;
  i64 crc_ = 0, symbols_ = 0;
  Ns slow_until_ = 0, crowded_until_ = 0;
};

using Names = std::vector<std::string>;

TEST(HealthyDay, NothingIsToldAndNobodyIsTraced) {
  Host host;
  for (const Noise noise : test::kNoises) {
    SCOPED_TRACE(static_cast<int>(noise));
    Job job(fmt::format("47{}", static_cast<int>(noise)), noise, host.at);
    host.run(job, 2 * kHour + 20 * kMinute);
    host.rest(40 * kSecond);
    job.start(host.at);  // it is restarted, as planned
    host.run(job, 2 * kHour + 20 * kMinute);
    for (int i = 0; i < 12; ++i) host.sample(&job, 1);  // the first rank saves, the others have ended
    host.rest(5 * kMinute);
    EXPECT_EQ(host.told, Names());
    EXPECT_EQ(host.wanted, Names());
    EXPECT_EQ(host.conditions, std::set<std::string>());
  }
  EXPECT_GE(host.at - kBegin, 23 * kHour);
}

// The same host, when something is wrong with it.
TEST(HealthyDay, SlowerStepsInItAreTold) {
  Host host;
  Job job("4711", Noise::checkpoints, host.at);
  host.run(job, kHour);
  job.slower = 1.3;
  host.run(job, 10 * kMinute);
  EXPECT_EQ(host.told, Names{"step_time_up"});
  EXPECT_EQ(host.wanted, Names{"step_time_up"});
}

}  // namespace
}  // namespace spotter::respond
