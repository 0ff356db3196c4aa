#include "serve/folder_traces.h"

#include <algorithm>
#include <chrono>

#include "base/stable_sort.h"
#include "base/system/host.h"
#include "mcp/times.h"
#include "read/flight_recorder/flight_recorder.h"

namespace spotter::serve {
namespace {

mcp::Capture capture_of(const FoundJob& job) {
  mcp::Capture capture{.id = job.id,
                       .job = job.title,
                       .state = job.is_written ? "being written" : "written",
                       .paths = job.named,
                       .version = job.version};
  for (const JobFile& file : job.files) {
    if (!file.is_trace) continue;
    ++capture.files;
    capture.bytes += file.found.bytes;
    capture.at = std::max(capture.at.value_or(0), file.found.changed);
  }
  return capture;
}

}  // namespace

Result<std::vector<JobPtr>> FolderTraces::look(const std::atomic<bool>* cancelled) {
  static constexpr std::atomic<bool> kNever = false;
  const std::atomic<bool>& is_over = cancelled ? *cancelled : kNever;
  const auto gave_up = [] { return fail(Code::cancelled, "the folders were not looked at to the end"); };
  while (!mutex_.try_lock_for(std::chrono::nanoseconds(mcp::kLook)))
    if (is_over) return gave_up();
  const std::lock_guard lock(mutex_, std::adopt_lock);
  std::vector<JobPtr> jobs = finder_.look_with_times(Host::at("/").unix_now(), is_over);
  if (is_over) return gave_up();
  return jobs;
}

Result<std::vector<mcp::Capture>> FolderTraces::captures(const mcp::Patience& patience) {
  TRY_ASSIGN(const std::vector<JobPtr> jobs, look(patience.cancelled));
  std::vector<mcp::Capture> all;
  for (const JobPtr& job : jobs) all.push_back(capture_of(*job));
  stable_sort(all, [](const mcp::Capture& one, const mcp::Capture& other) { return one.at > other.at; });
  return all;
}

Result<JobPtr> FolderTraces::find(const mcp::Capture& capture, const std::atomic<bool>* cancelled) {
  TRY_ASSIGN(const std::vector<JobPtr> jobs, look(cancelled));
  const auto it = std::ranges::find_if(jobs, [&](const JobPtr& job) { return job->id == capture.id; });
  if (it == jobs.end())
    return fail(Code::not_found, "the folder has no traces any more; overview lists those that there are");
  return *it;
}

Result<diagnose::Diagnosis> FolderTraces::diagnose(const mcp::Capture& capture, diagnose::Request request) {
  TRY_ASSIGN(const JobPtr found, find(capture, request.run.cancelled));
  request.load_record = read::load_flight_record;
  const auto run = [&]() -> Result<diagnose::Diagnosis> {
    TRY_ASSIGN(const Job job, open(*found));
    return diagnose::run(job, std::move(request), loader_of(found));
  };
  return run().map_error(mcp::without_names);
}

Result<diagnose::Diff> FolderTraces::compare(const mcp::Capture& before, const mcp::Capture& after,
                                             diagnose::DiffRequest request) {
  TRY_ASSIGN(const JobPtr found_before, find(before, request.run.cancelled));
  TRY_ASSIGN(const JobPtr found_after, find(after, request.run.cancelled));
  const Loader load = [&](const TraceFile& file, const LoadRequest& how) {
    return loader_of(find_file(*found_before, file.path) ? found_before : found_after)(file, how);
  };
  const auto run = [&]() -> Result<diagnose::Diff> {
    TRY_ASSIGN(const Job job_before, open(*found_before));
    TRY_ASSIGN(const Job job_after, open(*found_after));
    return diagnose::diff(job_before, job_after, std::move(request), load);
  };
  return run().map_error(mcp::without_names);
}

}  // namespace spotter::serve
