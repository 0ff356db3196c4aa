#include "agent/incidents/changes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "agent/jobs/job_facts.h"
#include "base/log.h"
#include "base/moment.h"
#include "base/saturated.h"
#include "base/text/words.h"
#include "collect/host/kernel_ticks.h"
#include "collect/values.h"
#include "respond/rules/columns.h"

namespace spotter::agent {
namespace {

constexpr size_t kMostJobs = 1000;
constexpr i64 kHealthySteps = 100;
constexpr size_t kMostLearnt = 1000;
constexpr Ns kLearntKept = 6 * kHour;  // after five the heaviest weighs nothing
constexpr Ns kLook = 5 * kSecond;
constexpr std::string_view kCommandLine = "command line";

constexpr const char* kNames[] = {"kernel", "boot_time_ns", "gpu", "driver", "power_limit_watts", "vendor"};
enum : size_t { kKernel, kBoot, kGpu, kDriver, kPowerLimit, kVendor };

store::StoredChange stored(const respond::Change& change) {
  const respond::ChangeBefore& c = change.change;
  return {.at = c.at,
          .kind = c.kind,
          .what = c.what,
          .before = c.before,
          .after = c.after,
          .by = c.by,
          .link = c.link,
          .job = change.job,
          .hosts = fmt::format("{}", fmt::join(change.hosts, "\n"))};
}

respond::Change change_of(const store::StoredChange& s) {
  respond::Change change{.change = {.at = s.at,
                                    .kind = s.kind,
                                    .what = s.what,
                                    .before = s.before,
                                    .after = s.after,
                                    .by = s.by,
                                    .link = s.link},
                         .job = s.job};
  for (std::string_view rest = s.hosts; !rest.empty();) change.hosts.emplace_back(next_line(rest));
  return change;
}

respond::Facts read_facts(const store::KnownFacts& known) {
  respond::Facts facts;
  for (const auto& [name, fact] : known) facts[name] = {fact.value, fact.since};
  return facts;
}

store::KnownFacts known_of(const respond::Facts& facts) {
  store::KnownFacts known;
  for (const auto& [name, fact] : facts) known[name] = {fact.value, fact.since};
  return known;
}

// What is no reason to do nothing else.
void note(const Result<void>& result) {
  if (!result) log(Level::warning, "changes: {}", result.error().message);
}

}  // namespace

void Changes::begin(store::IncidentStore& store) {
  store_ = &store;
  const auto known = store.changes();
  if (!known) log(Level::warning, "changes of before: {}", known.error().message);
  for (const store::StoredChange& change : known.value_or(std::vector<store::StoredChange>()))
    all_.push_back(change_of(change));
  host_facts_ = read_facts(store.facts("host").value_or(store::KnownFacts()));
}

Result<void> Changes::add(respond::Change change) {
  if (!store_) return fail(Code::unsupported, "this agent watches no jobs (respond), and keeps no changes");
  TRY_ASSIGN(const bool is_new, store_->add_change(stored(change), parts_.host.unix_now()));
  if (!is_new) return {};
  const auto at = std::ranges::upper_bound(all_, change.change.at, {},
                                           [](const respond::Change& c) { return c.change.at; });
  all_.insert(at, std::move(change));
  const store::ChangeLimits limits;  // those of the file
  const Ns oldest = parts_.host.unix_now() - limits.kept;
  std::erase_if(all_, [&](const respond::Change& c) { return c.change.at < oldest; });
  if (std::ssize(all_) > limits.most) all_.erase(all_.begin());
  return {};
}

void Changes::learn(std::vector<respond::Change> changes) {
  const Ns now = parts_.host.unix_now(), oldest = now - kLearntKept;
  const auto is_known = [](const std::vector<respond::Change>& known, const respond::Change& change) {
    return std::ranges::any_of(known, [&](const respond::Change& each) {
      return each.change.at == change.change.at && each.change.what == change.change.what &&
             each.change.after == change.change.after && each.job == change.job && each.hosts == change.hosts;
    });
  };
  std::erase_if(others_, [&](const respond::Change& change) { return change.change.at < oldest; });
  for (respond::Change& change : changes) {
    if (change.change.at < oldest || change.change.at > now + kMinute || others_.size() >= kMostLearnt)
      continue;
    if (!is_known(all_, change) && !is_known(others_, change)) others_.push_back(std::move(change));
  }
}

void Changes::see(const Batch& batch) {
  respond::FactValues values;
  respond::Columns columns(kNames);
  for (const Table& table : batch.tables) {
    if (table.name() != "uptime" && table.name() != "gpu") continue;
    columns.find(table);
    for (size_t row = 0; row < table.rows(); ++row) {
      const std::string kernel(columns.text(row, kKernel)), driver(columns.text(row, kDriver));
      if (!kernel.empty()) values["kernel/release"] = kernel;
      // To the minute: the time of a boot is computed from clocks.
      if (const auto boot = columns.integer(row, kBoot)) {
        const auto known = host_facts_.find("boot/host");
        const auto before =
            known == host_facts_.end() ? std::nullopt : std::optional(parse_moment(known->second.value));
        const bool is_same =
            before && *before && std::max(**before, *boot) - std::min(**before, *boot) < kMinute;
        values["boot/host"] = is_same ? known->second.value : utc_text(*boot);
      }
      if (!driver.empty()) values[fmt::format("driver/{}", columns.text(row, kVendor))] = driver;
      const auto limit = columns.real(row, kPowerLimit);
      if (const auto gpu = columns.integer(row, kGpu); gpu && limit)
        values[fmt::format("power/limit of GPU {}", *gpu)] = fmt::format("{:.0f} W", *limit);
    }
  }
  if (!values.empty() && store_) see_host(values);
}

void Changes::see_host(const respond::FactValues& values) {
  const Ns now = parts_.host.unix_now();
  bool is_new = false;
  for (respond::ChangeBefore& change : respond::differences(host_facts_, values, now, false)) {
    if (change.kind == "boot") {
      if (const auto boot = parse_moment(change.after)) change.at = *boot;
    }
    change.by = "seen by the agent";
    note(add({.change = std::move(change), .hosts = {parts_.host_name}}));
  }
  for (auto& [name, fact] : respond::kept_facts(host_facts_, values, now)) {
    respond::Fact& kept = host_facts_[name];
    is_new |= kept.value != fact.value;
    kept = fact;
  }
  if (is_new) note(store_->keep_facts("host", known_of(host_facts_), now));
}

// The process of its lowest rank that is here speaks for a job.
void Changes::pass(Ns now, const std::function<bool(const std::string& job)>& is_in_trouble) {
  if (!store_ || (now - looked_ < kLook && now >= looked_)) return;
  looked_ = now;
  std::map<std::string, const kineto::Process*> first;
  for (const auto& [pid, process] : parts_.registry.all()) {
    const process::Identity& identity = process.identity;
    if (identity.job.empty() || identity.role == process::Role::helper) continue;
    const kineto::Process*& known = first[identity.job];
    if (!known || identity.rank.value_or(0) < known->identity.rank.value_or(0)) known = &process;
  }
  std::erase_if(jobs_, [&](const auto& job) { return !first.contains(job.first); });
  for (const auto& [job, process] : first) {
    if (!jobs_.contains(job) && jobs_.size() < kMostJobs) meet(*process);
  }
  for (auto& [job, seen] : jobs_) {
    const auto pace = parts_.paces.of(job);
    if (seen.is_healthy || !pace || pace->steps < kHealthySteps || is_in_trouble(job)) continue;
    seen.is_healthy = true;
    note(store_->keep_facts(seen.series, known_of(respond::kept_facts(seen.before, seen.values, seen.began)),
                            now));
  }
}

void Changes::meet(const kineto::Process& process) {
  const std::string job = process.identity.job;
  if (!looked_at_.insert(job).second) return;
  auto values = std::make_shared<respond::FactValues>();
  auto look = [values, host = parts_.host, facts = process.facts] { *values = facts_of(host, facts); };
  auto done = [this, job, values, series = "series/" + series_of(process.facts),
               start = process.facts.start_ticks] {
    looked_at_.erase(job);
    met(job, series, std::move(*values), start);
  };
  if (parts_.aside) {
    if (!parts_.aside(std::move(look), std::move(done))) looked_at_.erase(job);
    return;
  }
  look();
  done();
}

void Changes::met(const std::string& job, const std::string& series, respond::FactValues values,
                  i64 start_ticks) {
  const Ns running = subtract_saturated(parts_.host.steady_now(),
                                        collect::scaled(start_ticks, collect::ns_per_tick()).value_or(0));
  JobSeen seen{.series = series,
               .values = std::move(values),
               .began = parts_.host.unix_now() - std::max<Ns>(running, 0)};
  seen.before = read_facts(store_->facts(seen.series).value_or(store::KnownFacts()));
  if (!seen.before.empty()) {
    for (respond::ChangeBefore& change : respond::differences(seen.before, seen.values, seen.began, true)) {
      // What stands in a command line may be anything, and is nobody's to read in a message.
      if (change.what == kCommandLine) change.before = change.after = "";
      change.by = "seen by the agent";
      note(add({.change = std::move(change), .job = job}));
    }
  }
  jobs_[job] = std::move(seen);
}

void Changes::look_back(respond::Incident& incident) const {
  std::vector<respond::Change> known = all_;
  known.insert(known.end(), others_.begin(), others_.end());
  incident.changes = respond::changes_before(known, incident);
  const auto job = jobs_.find(incident.job.id);
  if (job == jobs_.end()) return;
  for (const auto& [name, value] : job->second.values) {
    const auto before = job->second.before.find(name);
    if (!name.starts_with("code/") || before == job->second.before.end() || before->second.value != value)
      continue;
    const Ns length = parts_.host.unix_now() - before->second.since;
    std::string text = "code: the same commit as before";
    if (length >= 2 * kDay)
      text = fmt::format("code: same commit for {} days", length / kDay);
    else if (length >= 2 * kHour)
      text = fmt::format("code: same commit for {} h", length / kHour);
    std::erase_if(incident.against, [](const std::string& other) { return other.starts_with("code: "); });
    incident.against.push_back(std::move(text));
  }
}

}  // namespace spotter::agent
