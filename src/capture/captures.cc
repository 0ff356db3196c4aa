#include "capture/captures.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "base/saturated.h"
#include "base/time.h"
#include "capture/captures_job.h"
#include "capture/late_start.h"
#include "kineto/message.h"
#include "kineto/trace_folder.h"

namespace spotter::capture {
namespace {

constexpr Ns kSlack = 60 * kSecond;  // of a deadline, for polls, writing and busy disks
constexpr Ns kIterationPatience = 600 * kSecond;
constexpr i64 kFarthestMs = i64{366} * 24 * 3600 * 1000;  // a start beyond it is as good as never
constexpr Ns kNeverBegan = 15 * kSecond;  // after the time at which the trace should have ended
constexpr Ns kNoFile = 10 * kSecond;      // after the process said that it is idle again
constexpr Ns kLastLook = kSecond / 2;     // at the files of a process that ended

constexpr std::string_view kEnding = ".pt.trace.json";

std::string id_of(i64 unix_ms, u64 number) {
  return fmt::format("{:%Y%m%dT%H%M%S}-{}", fmt::gmtime(static_cast<std::time_t>(unix_ms / 1000)), number);
}

}  // namespace

Captures::Captures(kineto::Registry& registry, Host host, std::string host_name, Aside aside)
    : registry_(registry),
      host_(std::move(host)),
      host_name_(std::move(host_name)),
      aside_(std::move(aside)) {}
Captures::~Captures() = default;

Result<std::string> Captures::begin(const Request& request, Times now) {
  if (request.pids.empty()) return fail(Code::not_found, "no process matches");
  TRY(kineto::start_of(request.config, now.unix_ms));
  const std::string id = id_of(now.unix_ms, next_);
  Capture capture{id, request.asked_by, {}, now, request.deadline, {}, 0};
  const kineto::Config& wanted = request.config;
  if (capture.deadline == 0) {
    const i64 ahead = wanted.start_time_ms > 0
                          ? std::clamp<i64>(wanted.start_time_ms - now.unix_ms, 0, kFarthestMs)
                          : wanted.warmup_ms;
    capture.deadline =
        wanted.by_iterations() ? kIterationPatience : (ahead + wanted.duration_ms) * kMillisecond + kSlack;
  }
  std::vector<std::unique_ptr<Job>> jobs;
  std::unordered_set<std::string> taken;  // paths
  std::map<i64, std::vector<Writer>> by_user;
  for (const i64 pid : request.pids) {
    const kineto::Process* process = registry_.find(pid);
    if (!process) return fail(Code::not_found, "process {} is not registered", pid);
    if (const std::string why = why_busy(pid, now); !why.empty()) return fail(Code::busy, "{}", why);
    auto job = std::make_unique<Job>();
    job->config = wanted;
    job->config.trace_id = fmt::format("{}-{}", id, pid);
    const auto& rank = process->identity.rank;
    if (!request.output.empty())
      job->config.log_file = fmt::format("{}/{}_{}_{}{}", request.output, id, host_name_,
                                         rank ? fmt::format("rank{}", *rank) : "process", kEnding);
    std::string path = kineto::output_path(job->config.log_file, process->facts.inner_pid);
    // In two containers processes may have one rank and pid, and the directory may be one.
    if (!request.output.empty() && taken.contains(path)) {
      job->config.log_file.insert(job->config.log_file.rfind(kEnding), fmt::format("_host{}", pid));
      path = kineto::output_path(job->config.log_file, process->facts.inner_pid);
    }
    taken.insert(path);
    job->elsewhere = kineto::why_written_elsewhere(*process, path);
    std::vector<Writer>& writers = by_user[process->facts.uid];
    job->place = writers.size();
    writers.push_back({pid, process->facts.uid, path});
    job->is_own_text = request.text.empty();
    // Of a text that somebody else wrote only the last line is ours.
    job->text = request.text.empty()
                    ? kineto::config_text(job->config)
                    : fmt::format("{}\nREQUEST_TRACE_ID={}\n", request.text, job->config.trace_id);
    if (job->text.size() > kineto::kMaxConfigBytes)
      return fail(Code::invalid, "the request has {} bytes; {} at most", job->text.size(),
                  kineto::kMaxConfigBytes);
    const std::string& name = process->identity.job;
    capture.job = capture.receipts.empty() || capture.job == name ? name : std::string();
    job->index = capture.receipts.size();
    capture.receipts.push_back({pid, process->facts.uid, rank, State::accepted, path, 0, 0, {}, {}, {}});
    jobs.push_back(std::move(job));
  }
  TRY(find_places(by_user, jobs, capture));
  ++next_;
  Capture& kept = captures_.emplace(id, std::move(capture)).first->second;
  order_.push_back(id);
  for (auto& job : jobs) {
    job->capture = &kept;
    jobs_.emplace(job->receipt().pid, std::move(job));
  }
  while (order_.size() > kMostKept && forget_one()) {
  }
  tell(kept);
  return id;
}

std::string Captures::why_busy(i64 pid, Times now) const {
  const auto at = jobs_.find(pid);
  if (at == jobs_.end()) return held_.why_busy(pid, now.steady);
  return fmt::format("process {} is busy since {} with capture {}", pid,
                     seconds(now.steady - at->second->capture->accepted.steady), at->second->capture->id);
}

bool Captures::forget_one() {
  std::map<std::string, size_t> kept;  // by who asked
  for (const auto& [id, capture] : captures_) kept[capture.asked_by] += capture.over();
  const auto most = std::ranges::max_element(kept, {}, [](const auto& entry) { return entry.second; });
  if (most == kept.end() || most->second == 0) return false;
  const auto old = std::ranges::find_if(order_, [&](const std::string& id) {
    const Capture& capture = captures_.at(id);
    return capture.over() && capture.asked_by == most->first;
  });
  captures_.erase(*old);
  order_.erase(old);
  return true;
}

void Captures::tell(const Capture& capture) const {
  for (const Listener& listener : listeners_) listener(capture);
}

void Captures::advance(Job& job, State state) {
  if (job.receipt().state == state) return;
  job.receipt().state = state;
  ++job.capture->revision;
  tell(*job.capture);
}

void Captures::settle(Job& job, State state, std::string reason, Times now) {
  const bool is_lost = state == State::failed || state == State::expired;
  if (is_lost && job.receipt().state != State::accepted && !job.elsewhere.empty())
    reason += "; " + job.elsewhere;
  job.receipt().took = now.steady - job.capture->accepted.steady;
  job.receipt().reason = std::move(reason);
  advance(job, state);
}

void Captures::collect_settled() {
  std::erase_if(jobs_, [](const auto& entry) { return is_final(entry.second->receipt().state); });
}

// Whether a process has dropped its request, which is then as if it had not asked yet. Once, and not with
// what somebody else wrote.
bool Captures::asks_again(Job& job, bool is_idle, Times now) {
  if (job.is_asked_again || !job.is_own_text) return false;
  look(job, now);  // it may have begun, or ended, since
  if (is_final(job.receipt().state)) return false;
  constexpr Ns kFresh = kSecond;
  const bool is_known = multiply_saturated(now.unix_ms, kMillisecond) - job.looked_at <= kFresh;
  // An answer that came too late for one poll is read at the next one.
  constexpr int kMostLate = 1;
  is_idle = is_idle && is_known && job.receipt().state == State::delivered && !job.was_busy &&
            job.polls > kMostLate;
  if (!has_dropped(job.config, job.start_ms, job.begun_at, is_idle, now.unix_ms)) return false;
  job.is_asked_again = true;
  job.dropped_file_time = job.file_time;
  job.was_busy = false;
  job.idle_since = 0;
  job.receipt().reason = ask_again(job.config, now.unix_ms);
  job.text = kineto::config_text(job.config);
  advance(job, State::accepted);
  return true;
}

std::optional<std::string> Captures::text_for(const kineto::Process& process, Times now) {
  held_.polled(process.facts.pid, process.poll.takes_trace(), now.steady);
  const auto it = jobs_.find(process.facts.pid);
  if (it == jobs_.end()) return std::nullopt;
  Job& job = *it->second;
  if (job.gone_at) return std::nullopt;  // another process with the same number
  const bool takes = process.poll.takes_trace();
  if (takes) deaf_.erase(process.facts.pid);
  ++job.polls;
  if (!is_placed(job, now)) {
    collect_settled();
    return std::nullopt;
  }
  // Its second request may not have been sent yet.
  if (job.is_asked_again && job.receipt().state == State::accepted) look(job, now);
  const bool asks = job.receipt().state == State::accepted || asks_again(job, takes, now);
  if (is_final(job.receipt().state)) {
    collect_settled();
    return std::nullopt;
  }
  if (asks) {
    if (!takes && !job.is_asked_again && !deaf_.contains(process.facts.pid)) {
      job.refused_at = now.steady;
      return std::nullopt;
    }
    if (job.is_own_text && !job.is_asked_again && shorten_warmup(job.config, now.unix_ms)) {
      job.text = kineto::config_text(job.config);
      job.receipt().reason =
          fmt::format("the process asked late, so that its warm-up had {} s", job.config.warmup_ms / 1000);
    }
    if (const auto start = kineto::start_of(job.config, now.unix_ms); !start) {
      settle(job, State::failed, fmt::format("the process asked too late: {}", start.error().message), now);
      collect_settled();
      return std::nullopt;
    }
    return job.text;
  }
  if (!takes) {
    job.was_busy = true;
    job.idle_since = 0;
    advance(job, State::capturing);
  } else if (job.was_busy && job.idle_since == 0) {
    job.idle_since = now.steady;
  }
  return std::nullopt;
}

void Captures::sent(i64 pid, Times now) {
  const auto it = jobs_.find(pid);
  if (it == jobs_.end() || it->second->receipt().state != State::accepted) return;
  const i64 start_ms = kineto::start_of(it->second->config, now.unix_ms).value_or(now.unix_ms);
  it->second->delivered = now;
  it->second->polls = 0;
  it->second->start_ms = start_ms;
  it->second->start = now.steady + std::min(start_ms - now.unix_ms, kFarthestMs) * kMillisecond;
  advance(*it->second, State::delivered);
}

void Captures::gone(i64 pid, Times now) {
  deaf_.erase(pid);
  held_.gone(pid);
  if (const auto it = jobs_.find(pid); it != jobs_.end()) it->second->gone_at = now.steady;
}

void Captures::end(const std::string& id, std::string_view by, Times now) {
  for (const auto& [pid, job] : jobs_) {
    const State state = job->receipt().state;
    if (job->capture->id != id || is_final(state)) continue;
    note_deaf(*job);
    hold(*job);
    settle(*job, State::failed,
           fmt::format("ended by {} {}", by,
                       state == State::accepted
                           ? "before the process had asked for the request"
                           : "when the process had the request; it may still write the file"),
           now);
  }
  collect_settled();
}

void Captures::note_deaf(const Job& job) {
  if (job.receipt().state == State::capturing && job.is_empty && !job.gone_at)
    deaf_.insert(job.receipt().pid);
}

// Nobody knows when iterations come: by then the capture would have expired.
void Captures::hold(const Job& job) {
  if (job.receipt().state == State::accepted || job.gone_at) return;
  const Ns end = job.config.by_iterations() ? job.capture->accepted.steady + job.capture->deadline
                                            : job.start + job.config.duration_ms * kMillisecond;
  const i64 pid = job.receipt().pid;
  held_.keep(pid, {job.capture->id, end, job.was_busy});
  // It may have said already that it is done.
  if (const kineto::Process* process = registry_.find(pid))
    held_.polled(pid, process->poll.takes_trace(), process->last_poll);
}

bool Captures::never_began(const Job& job, Times now) {
  const State state = job.receipt().state;
  if (job.gone_at || job.config.by_iterations() ||
      now.steady - job.start - job.config.duration_ms * kMillisecond < kNeverBegan)
    return false;
  return state == State::delivered ||
         (state == State::capturing &&
          has_dropped(job.config, job.start_ms, job.begun_at, false, now.unix_ms));
}

// The process waits for the start by the system's clock.
std::string Captures::why_never_begun(const Job& job, Times now) {
  const Ns back = (now.steady - job.delivered.steady) - (now.unix_ms - job.delivered.unix_ms) * kMillisecond;
  if (back >= kNeverBegan)
    return fmt::format(
        "the process took the request and has not begun: meanwhile the host's clock was put back by {}",
        seconds(back));
  return "the process took the request and never began: another profiler may be at work in it; its own error "
         "output says more (KINETO_LOG_LEVEL=1)";
}

void Captures::tick(Times now, size_t most) {
  auto next = jobs_.upper_bound(last_looked_after_);
  for (size_t n = std::min(most, jobs_.size()); n > 0; --n) {
    if (next == jobs_.end()) next = jobs_.begin();
    last_looked_after_ = next->first;
    look_after(*next->second, now);
    ++next;
  }
  collect_settled();
}

void Captures::look_after(Job& job, Times now) {
  const Receipt& r = job.receipt();
  if (is_final(r.state)) return;
  if (!is_placed(job, now) && !job.gone_at) return;
  if ((r.state != State::accepted || job.is_asked_again) && !look(job, now)) return;
  if (is_final(r.state)) return;
  const Ns waited = now.steady - job.capture->accepted.steady;
  if (job.gone_at && now.steady - job.gone_at >= kLastLook) {
    settle(job, State::failed,
           r.state == State::accepted    ? "the process ended before it asked for the request"
           : r.state == State::delivered ? "the process ended before the trace began"
                                         : "the process ended before the file was complete",
           now);
  } else if (job.idle_since && now.steady - job.idle_since >= kNoFile) {
    settle(
        job, State::failed,
        "the process is idle again and there is no file: another profiler may have taken over, the disk may be "
        "full; its own error output says more",
        now);
  } else if (never_began(job, now)) {
    note_deaf(job);
    settle(job, State::failed,
           r.state == State::capturing ? "the process woke too late for its warm-up and dropped the request"
                                       : why_never_begun(job, now),
           now);
  } else if (waited >= job.capture->deadline) {
    note_deaf(job);
    hold(job);
    const std::string after = "within " + seconds(job.capture->deadline);
    settle(job, State::expired,
           r.state == State::accepted && job.refused_at ? "the process was busy with another capture " + after
           : r.state == State::accepted                 ? "the process did not ask for the request " + after
           : r.state == State::delivered
               ? "the trace did not begin " + after +
                     (job.config.by_iterations() ? ": does the program call optimizer.step()?" : "")
               : "the trace was not complete " + after,
           now);
  }
}

const Capture* Captures::find(const std::string& id) const {
  const auto it = captures_.find(id);
  return it == captures_.end() ? nullptr : &it->second;
}

std::vector<const Capture*> Captures::all() const {
  std::vector<const Capture*> found;
  for (auto id = order_.rbegin(); id != order_.rend(); ++id) found.push_back(&captures_.at(*id));
  return found;
}

}  // namespace spotter::capture
