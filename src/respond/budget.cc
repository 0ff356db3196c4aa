#include "respond/budget.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "base/saturated.h"
#include "base/text/utf8.h"

namespace spotter::respond {
namespace {

double seconds(Ns time) { return static_cast<double>(time) / static_cast<double>(kSecond); }

}  // namespace

Result<void> check(const BudgetOptions& o) {
  if (!(o.allowance >= 0 && o.allowance <= 0.1))
    return fail(Code::invalid, "allowance: 0 to 0.1 of the time");
  if (!(o.first_s >= 0 && o.first_s <= o.most_saved_s && std::isfinite(o.most_saved_s)))
    return fail(Code::invalid, "the first seconds: 0 to what may be saved up");
  if (o.min_age < 0 || o.min_steps < 0) return fail(Code::invalid, "min_age, min_steps: 0 and more");
  if (o.per_hour < 0 || o.per_day < 0 || o.at_once < 1)
    return fail(Code::invalid, "fewer captures than none");
  if (o.apart < 0 || o.family_apart < 0) return fail(Code::invalid, "captures lie a time apart");
  if (o.least_window <= 0 || o.most_window < o.least_window || o.warm_up < 0 || o.first_warm_up < 0)
    return fail(Code::invalid, "a window has a length");
  return {};
}

Ns window_of(const BudgetOptions& options, Ns step, Ns longest) {
  constexpr Ns kMostForLongest = 4 * kSecond;  // there is a message to send
  const Ns usual = std::clamp(static_cast<Ns>(options.window_steps * static_cast<double>(step)),
                              options.least_window, options.most_window);
  return std::max(usual,
                  std::min(multiply_saturated(longest, 2), std::min(kMostForLongest, options.most_window)));
}

double Budget::saved_at(const Job& job, Ns at) const {
  const Ns passed = std::max<Ns>(at - job.as_of, 0);
  return std::min(job.saved_s + options_.allowance * seconds(passed), options_.most_saved_s);
}

Budget::Job& Budget::job_at(const std::string& name, Ns at, Ns age) {
  auto it = jobs_.find(name);
  if (it == jobs_.end()) {
    it = jobs_.emplace(name, Job()).first;
    it->second.saved_s = begins_empty_ ? 0 : options_.first_s;
    it->second.as_of = begins_empty_ ? at : at - age;
  }
  Job& job = it->second;
  job.saved_s = saved_at(job, at);
  job.as_of = std::max(job.as_of, at);
  while (!job.captures.empty() && at - job.captures.front() >= kDay) job.captures.pop_front();
  return job;
}

double Budget::saved_s(const std::string& job, Ns at) const {
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return begins_empty_ ? 0 : options_.first_s;
  return saved_at(it->second, at);
}

double Budget::cost_s(const CapturePlan& plan, const Job& job, double stall_s) const {
  return seconds(plan.warm_up + plan.window) * job.overhead.value_or(options_.overhead) + stall_s;
}

CapturePlan Budget::plan_for(const CaptureWish& wish, const Job& job) const {
  const bool is_first = !job.has_passed;
  CapturePlan plan;
  plan.is_canary = is_first && options_.canary;
  plan.warm_up = is_first ? options_.first_warm_up : options_.warm_up;
  plan.window = window_of(options_, wish.step, wish.longest);
  plan.cost_s = cost_s(plan, job, is_first ? options_.first_stall_s : options_.stall_s);
  return plan;
}

Result<void> Budget::allows(const CaptureWish& wish, const Job& job) const {
  if (!job.off.empty()) return fail(Code::denied, "nothing was traced: {}", job.off);
  if (job.planned) return fail(Code::busy, "nothing more was traced: a capture is under way");
  if (wish.age < options_.min_age)
    return fail(Code::busy, "nothing was traced: the job's first step was seen less than {:.0f} s ago",
                seconds(options_.min_age));
  if (wish.steps < options_.min_steps)
    return fail(Code::busy, "nothing was traced: the job has made fewer than {} steps", options_.min_steps);
  if (wish.last_person != 0 && wish.at - wish.last_person < options_.after_person)
    return fail(Code::busy, "nothing was traced: somebody has traced the job just now");
  if (wish.last_checkpoint != 0 && wish.at - wish.last_checkpoint < options_.after_checkpoint)
    return fail(Code::busy, "nothing was traced: the job has written a lot just now, as at a checkpoint");
  const auto since = [&](Ns ago) {
    return std::ranges::count_if(job.captures, [&](Ns at) { return wish.at - at < ago; });
  };
  if (since(options_.apart) > 0)
    return fail(Code::busy, "nothing was traced: the last capture is less than {:.0f} s ago",
                seconds(options_.apart));
  if (since(kHour) >= options_.per_hour)
    return fail(Code::busy, "nothing was traced: there were {} captures in this hour", options_.per_hour);
  if (since(kDay) >= options_.per_day)
    return fail(Code::busy, "nothing was traced: there were {} captures in this day", options_.per_day);
  const auto family = job.families.find(wish.family);
  if (family != job.families.end() && wish.at - family->second < options_.family_apart)
    return fail(Code::busy, "nothing was traced: the last capture for the like is less than {:.0f} s ago",
                seconds(options_.family_apart));
  const auto under_way =
      std::ranges::count_if(jobs_, [](const auto& other) { return other.second.planned.has_value(); });
  if (under_way >= options_.at_once)
    return fail(Code::busy, "nothing was traced: {} captures of other jobs are under way", under_way);
  return {};
}

Result<CapturePlan> Budget::plan(const CaptureWish& wish) {
  Job& job = job_at(wish.job, wish.at, wish.age);
  TRY(allows(wish, job));
  const CapturePlan plan = plan_for(wish, job);
  const auto family = job.families.find(wish.family);
  Planned planned{.cost_s = plan.cost_s,
                  .at = wish.at,
                  .family = wish.family,
                  .family_before = family == job.families.end() ? 0 : family->second,
                  .overdrawn_before = job.overdrawn};
  if (plan.cost_s > job.saved_s) {
    const bool may_overdraw = wish.is_critical && (job.overdrawn == 0 || wish.at - job.overdrawn >= kDay);
    if (!may_overdraw)
      return fail(Code::busy,
                  "nothing was traced: it would cost the job {:.1f} s, and {:.1f} s are left of its budget",
                  plan.cost_s, job.saved_s);
    job.overdrawn = wish.at;
  }
  job.saved_s -= plan.cost_s;
  job.planned = std::move(planned);
  job.captures.push_back(wish.at);
  job.families[wish.family] = wish.at;
  return plan;
}

Result<CapturePlan> Budget::plan_more(const std::string& name, const CapturePlan& first, Ns at) {
  Job& job = job_at(name, at);
  if (!job.off.empty()) return fail(Code::denied, "nothing was traced: {}", job.off);
  CapturePlan plan{.warm_up = options_.warm_up, .window = first.window};
  plan.cost_s = cost_s(plan, job, options_.stall_s);
  if (plan.cost_s > job.saved_s)
    return fail(
        Code::busy,
        "nothing more was traced: it would cost the job {:.1f} s, and {:.1f} s are left of its budget",
        plan.cost_s, job.saved_s);
  job.saved_s -= plan.cost_s;
  if (!job.planned) job.planned = Planned{.at = at};
  job.planned->cost_s += plan.cost_s;
  return plan;
}

void Budget::not_begun(const std::string& name, Ns at) {
  const auto it = jobs_.find(name);
  if (it == jobs_.end() || !it->second.planned) return;
  Job& job = job_at(name, at);
  const Planned planned = std::move(*job.planned);
  job.planned.reset();
  job.saved_s = std::min(job.saved_s + planned.cost_s, options_.most_saved_s);
  job.overdrawn = planned.overdrawn_before;
  if (const auto own = std::ranges::find(job.captures, planned.at); own != job.captures.end())
    job.captures.erase(own);
  if (planned.family_before == 0)
    job.families.erase(planned.family);
  else
    job.families[planned.family] = planned.family_before;
}

void Budget::ended(const std::string& name, Ns at, std::optional<double> cost_s,
                   std::optional<double> overhead, std::optional<double> aftermath) {
  const auto it = jobs_.find(name);
  if (it == jobs_.end()) return;
  Job& job = job_at(name, at);
  if (job.planned && cost_s)
    job.saved_s = std::min(job.saved_s + job.planned->cost_s - std::max(*cost_s, 0.0), options_.most_saved_s);
  job.planned.reset();
  job.has_passed = job.has_passed || cost_s || overhead;
  if (overhead) job.overhead = std::clamp(*overhead, 0.0, 10.0);
  if (aftermath && *aftermath > options_.aftermath) ++job.aftermaths;
  judge_aftermaths(job);
}

void Budget::learn(const std::string& name, const std::string& family, Ns at) {
  constexpr Ns kSame = kMinute;
  Job& job = jobs_.try_emplace(name, Job{.as_of = at}).first->second;
  const auto is_it = [&](Ns known) { return known - at < kSame && at - known < kSame; };
  if (std::ranges::any_of(job.captures, is_it)) return;
  job.captures.insert(std::ranges::upper_bound(job.captures, at), at);
  Ns& last = job.families[family];
  last = std::max(last, at);
}

void Budget::slower_after(const std::string& name, int captures) {
  const auto it = jobs_.find(name);
  if (it == jobs_.end()) return;
  it->second.aftermaths = std::max(it->second.aftermaths, captures);
  judge_aftermaths(it->second);
}

void Budget::judge_aftermaths(Job& job) {
  constexpr int kMost = 1;
  if (job.aftermaths > kMost && job.off.empty()) job.off = "it stayed slower after two captures";
}

void Budget::pass(Ns at) {
  // Where the clock was set back what was later is just now: no job waits until it is again what it was.
  if (at < last_pass_ - kMinute) {
    for (auto& [name, job] : jobs_) {
      for (Ns* time : {&job.as_of, &job.overdrawn}) *time = std::min(*time, at);
      for (Ns& capture : job.captures) capture = std::min(capture, at);
      for (auto& [family, last] : job.families) last = std::min(last, at);
    }
  }
  last_pass_ = at;
  std::erase_if(jobs_, [&](const auto& job) { return at - job.second.as_of > 2 * kDay; });
}

void Budget::harmed(const std::string& name, std::string why) {
  const auto it = jobs_.find(name);
  if (it == jobs_.end()) return;
  it->second.off = to_printable(why);
  it->second.planned.reset();
}

}  // namespace spotter::respond
