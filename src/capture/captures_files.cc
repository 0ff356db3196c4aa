// Of captures.h: what is asked of the disks that processes write to.
#include <algorithm>
#include <chrono>

#include "base/saturated.h"
#include "base/time.h"
#include "capture/captures_job.h"

namespace spotter::capture {
namespace {

constexpr Ns kDiskPatience = 30 * kSecond;
// A disk that is well answers by then, also of a busy host, and an error of a request is told at once. Of a
// user whose disk did not it is not waited for again for a while.
constexpr Ns kBriefly = kSecond / 2, kNotAgain = kMinute;

}  // namespace

// Each user's are asked for together, so that his disks keep nobody else's waiting.
Result<void> Captures::find_places(const std::map<i64, std::vector<Writer>>& by_user,
                                   const std::vector<std::unique_ptr<Job>>& jobs, Capture& capture) {
  std::map<i64, std::shared_future<std::vector<OutputPlace>>> answers;
  for (const auto& [uid, writers] : by_user) {
    auto answer = ask<std::vector<OutputPlace>>(
        aside_, uid, [host = host_, asked = writers] { return capture::find_places(host, asked); });
    if (!answer) return fail(Code::busy, "too many files of user {} are on disks that do not answer", uid);
    answers.emplace(uid, answer->share());
  }
  const Ns now = capture.accepted.steady;
  const auto begun = std::chrono::steady_clock::now();
  for (const auto& job : jobs) {
    Receipt& receipt = capture.receipts[job->index];
    job->places = answers.at(receipt.uid);
    const auto late = late_disks_.find(receipt.uid);
    const bool waits = late == late_disks_.end() || now - late->second >= kNotAgain;
    const auto until = begun + std::chrono::nanoseconds(waits ? kBriefly : 0);
    if (job->places.wait_until(until) == std::future_status::ready)
      TRY(take_place(*job, receipt));
    else if (waits)
      late_disks_[receipt.uid] = now;
  }
  return {};
}

Result<void> Captures::take_place(Job& job, Receipt& receipt) {
  const OutputPlace& place = job.places.get()[job.place];
  TRY(place.may_write);
  job.root = place.root;
  job.before = place.before;
  receipt.source = place.repository.source;
  receipt.source_root = place.repository.root;
  return {};
}

bool Captures::is_placed(Job& job, Times now) {
  if (job.root) return true;
  const Ns patience = std::min(kDiskPatience, job.capture->deadline);
  if (is_there(job.places)) {
    const Result<void> taken = take_place(job, job.receipt());
    if (!taken) settle(job, State::failed, taken.error().message, now);
  } else if (now.steady - job.capture->accepted.steady >= patience) {
    settle(job, State::failed,
           fmt::format("the disk of {} has not answered for {}", directory_of(job.receipt().file),
                       seconds(patience)),
           now);
  }
  return job.root != nullptr;
}

// Takes what the disk says, or asks it: false where there is no answer yet.
bool Captures::look(Job& job, Times now) {
  const Receipt& r = job.receipt();
  if (!job.looking) {
    job.asked = now;
    job.looking = ask<FileLook>(
        aside_, r.uid, [root = job.root, path = r.file, uid = r.uid] { return root->look(path, uid); });
  }
  if (job.looking && is_there(*job.looking)) {
    const FileLook file = job.looking->get();
    job.looking.reset();
    job.silent_since = 0;
    take_look(job, file, now);
    return true;
  }
  if (job.silent_since == 0) job.silent_since = now.steady;
  if (now.steady - job.silent_since >= kDiskPatience)
    settle(job, State::failed,
           fmt::format("the disk of {} has not answered for {}: whether the file was written is not known",
                       directory_of(r.file), seconds(kDiskPatience)),
           now);
  return false;
}

void Captures::take_look(Job& job, FileLook file, Times now) {
  Receipt& r = job.receipt();
  // One of an earlier capture may be there: Dynolog's RPC names the files, and a clock that was put back
  // makes an agent that has begun again give its names a second time.
  if (file.written && !file.foreign && file.changed == job.before) file.written = false;
  if (file.foreign)
    return settle(job, State::failed, "the file is not a plain file of the process's user", now);
  if (file.written) {
    r.size_bytes = file.size_bytes;
    // Whoever was asked again and was at work has not touched his file.
    const bool has_ignored = job.dropped_file_time > 0 && job.file_time == job.dropped_file_time;
    if (file.has_events) return settle(job, State::written, has_ignored ? "" : r.reason, now);
    return settle(job, State::empty,
                  job.gone_at
                      ? "the process ended before it had recorded anything"
                      : "the file has no events: nothing ran while it was recorded (had the training begun?)",
                  now);
  }
  const Ns unix_now = multiply_saturated(now.unix_ms, kMillisecond);
  job.is_empty = file.begun_at > 0;
  if (job.is_empty && file.begun_at != job.file_time) {
    job.file_time = file.begun_at;
    job.begun_at = std::clamp(file.begun_at, job.looked_at, std::max(job.looked_at, unix_now));
  }
  job.looked_at = multiply_saturated(job.asked.unix_ms, kMillisecond);
  if (file.begun && r.state != State::accepted) advance(job, State::capturing);
}

}  // namespace spotter::capture
