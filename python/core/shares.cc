// Shares of a job for workers: each goes to a worker as bytes, and what it has mapped comes back as bytes
// (wire/mapped_shard.h).
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "analyze/mapped_shard.h"
#include "beat.h"
#include "core.h"
#include "diagnose/run.h"
#include "job.h"
#include "read/open.h"
#include "requests.h"
#include "wire/mapped_shard.h"

namespace spotter::python {

namespace {

using analyze::FileResult, analyze::MappedShard;

nb::bytes bytes_of(const MappedShard& part) {
  std::string bytes;
  value_of(wire::write_shard(part, [&](std::string_view piece) -> Result<void> {
    bytes += piece;
    return {};
  }));
  return nb::bytes(bytes.data(), bytes.size());
}

MappedShard part_in(const nb::bytes& bytes) {
  return value_of(wire::read_shard({bytes.c_str(), bytes.size()}));
}

// One task for each group of files, of which each says that it is not mapped yet.
nb::list plan(const HeldJob& held, const std::vector<std::string>& names, const nb::list& params,
              const Part& part, const std::vector<std::vector<size_t>>& groups) {
  Asked wanted = asked(names, params, part, {});
  if (wanted.names_findings) wanted.run = diagnose::with_facts(std::move(wanted.run));
  nb::list tasks;
  const auto files = static_cast<i64>(held.job.files.size());
  for (const std::vector<size_t>& places : groups) {
    // Shares of one job differ in their numbers; the place of the first file is one that no other group has.
    const analyze::Shard shard{static_cast<i64>(places.at(0)), files};
    MappedShard share = value_of(analyze::plan_shard(held.job, shard, places, wanted.run));
    for (const size_t place : places) {
      FileResult file;
      file.evidence.path = held.job.files.at(place).path;
      file.error = Error{Code::internal, file.evidence.path + ": it was not mapped"};
      share.files.push_back(std::move(file));
    }
    tasks.append(bytes_of(share));
  }
  return tasks;
}

// What became of one file of the share. A file that cannot be opened is no error of its task.
Result<FileResult> mapped(const std::string& path, const analyze::RunRequest& request) {
  Result<Job> job = read::open_job(std::span(&path, 1));
  if (!job) {
    FileResult lost;
    lost.evidence.path = path;
    lost.error = std::move(job.error());
    return lost;
  }
  TRY_ASSIGN(analyze::MappedJob result, analyze::map_files(*job, request, read::load));
  if (result.files.size() != 1) return fail(Code::internal, "{}: it is not one file", path);
  return std::move(result.files[0]);
}

Result<MappedShard> map_share(MappedShard share, analyze::RunRequest request) {
  const auto tell = std::exchange(request.on_progress, {});
  i64 total = 0, done = 0;
  for (const size_t place : share.places) total += share.job[place].bytes;
  for (size_t i = 0; i < share.files.size(); ++i) {
    const analyze::JobFile& file = share.job[share.places[i]];
    request.on_progress = [&](i64 bytes, i64) { tell(done + bytes, total); };
    TRY_ASSIGN(share.files[i], mapped(file.path, request));
    done += file.bytes;
  }
  return share;
}

nb::bytes map_task(const nb::bytes& task, int threads, i64 memory, nb::callable tell) {
  MappedShard share = part_in(task);
  analyze::RunRequest request = analyze::request_of(share.tables);
  Beat beat(std::move(tell));
  request.threads = threads;
  request.memory_bytes = memory;
  request.on_progress = beat.on_progress();
  request.cancelled = beat.cancelled();
  return bytes_of(beat.run<MappedShard>(
      [&]() -> Result<MappedShard> { return map_share(std::move(share), std::move(request)); }));
}

// The result of a task that nobody could do.
nb::bytes failed_task(const nb::bytes& task, const std::string& message) {
  MappedShard share = part_in(task);
  for (FileResult& file : share.files)
    file.error = Error{Code::io, fmt::format("{}: {}", file.evidence.path, message)};
  return bytes_of(share);
}

}  // namespace

void bind_shares(nb::module_& module) {
  module.def("plan", plan, nb::arg("job"), nb::arg("names"), nb::arg("params"), nb::arg("part"),
             nb::arg("groups"));
  module.def("map_task", map_task, nb::arg("task"), nb::arg("threads"), nb::arg("memory"), nb::arg("tell"));
  module.def("failed_task", failed_task, nb::arg("task"), nb::arg("message"));
}

}  // namespace spotter::python
