// reduce: parts that `spotter map` wrote -> what `spotter analyze` says of the whole job.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "analyze/mapped_shard.h"
#include "app/job/analyze_command.h"
#include "app/job/open_paths.h"
#include "base/system/file.h"
#include "read/open.h"
#include "wire/mapped_shard.h"

namespace spotter::app {
namespace {

using analyze::JoinedShards;

constexpr size_t kMostPartBytes = size_t{4} << 30;
constexpr std::string_view kEnding = ".sptr";
constexpr int kIncomplete = 3;  // as a capture that lacks a rank ends

// Of a folder those in it; a file by its ending.
Result<std::vector<std::string>> part_files(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const std::string& word : words) {
    std::vector<std::string> inside;
    for (const std::string& name : names_in(word))
      if (name.starts_with("part-") && name.ends_with(kEnding)) inside.push_back(word + "/" + name);
    std::ranges::sort(inside);
    if (!inside.empty())
      files.insert(files.end(), inside.begin(), inside.end());
    else if (word.ends_with(kEnding))
      files.push_back(word);
    else
      return fail(Code::not_found,
                  "{}: no part of a job is in it (part-I-of-N.sptr, which `spotter map` writes)", word);
  }
  return files;
}

Result<JoinedShards> read_parts(const std::vector<std::string>& words) {
  TRY_ASSIGN(const std::vector<std::string> files, part_files(words));
  std::vector<std::pair<std::string, analyze::MappedShard>> parts;
  for (const std::string& file : files) {
    TRY_ASSIGN(const std::string bytes, read_small_file(file, kMostPartBytes));
    Result<analyze::MappedShard> part = wire::read_shard(bytes);
    if (!part) return within(part.error(), file);
    parts.emplace_back(file, std::move(*part));
  }
  return JoinedShards::join(std::move(parts));
}

void note_missing(JoinedShards& parts) {
  constexpr size_t kShown = 3;
  const std::vector<i64> missing = parts.missing();
  if (missing.empty()) return;
  std::vector<std::string> files = parts.missing_files();
  const size_t count = files.size();
  if (count > kShown) files.resize(kShown);
  parts.first().notes.add("missing_parts", Severity::loss,
                          fmt::format("part {} of {} is not there, and with it {} of the job's files: {}{}",
                                      fmt::join(missing, ", "), parts.first().shard.count, count,
                                      fmt::join(files, ", "), count > kShown ? " ..." : ""));
}

Result<Job> reopen(const std::vector<std::string>& paths, const std::string& why) {
  auto job = open_paths(paths);
  if (!job) return within(job.error(), why + "; name these options to `spotter map`, too");
  fmt::print(stderr, "info: {}: the job's files are read again; name these options to `spotter map`, too\n",
             why);
  return job;
}

Result<JobSource> open_parts(const std::vector<std::string>& words, analyze::RunRequest& request) {
  TRY_ASSIGN(JoinedShards joined, read_parts(words));
  const auto parts = std::make_shared<JoinedShards>(std::move(joined));
  note_missing(*parts);
  parts->complete(request);
  const analyze::MappedShard& first = parts->first();
  JobSource source;
  source.paths = first.paths;
  source.status = parts->missing().empty() ? 0 : kIncomplete;
  for (const auto& [path, bytes] : first.job) {
    source.job.files.emplace_back();
    source.job.files.back().path = path;
    source.job.files.back().bytes = bytes;
  }
  source.job.flight_records = first.flight_records;
  source.map = [parts](const Job&, const analyze::RunRequest& wanted) {
    return std::move(*parts).map(wanted, reopen, read::load);
  };
  return source;
}

}  // namespace

Command reduce_command() {
  return command_over_job(
      {.name = "reduce",
       .summary = "Analyse a job whose traces `spotter map` has mapped.",
       .footer =
           "Takes what `analyze` takes. Ends with status 3 where parts are missing: the answer is that of the others.\n"
           "Examples:\n"
           "  spotter reduce parts/\n"
           "  spotter reduce parts/ --table operators --format csv"},
      "folders of parts, or parts (part-I-of-N.sptr)", "DIR", open_parts);
}

}  // namespace spotter::app
