#include "app/job/open_paths.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <vector>

#include "base/system/host.h"
#include "base/text/number.h"
#include "base/text/shell_word.h"
#include "base/text/utf8.h"
#include "read/open.h"
#include "serve/finder.h"

namespace spotter::app {
namespace {

namespace fs = std::filesystem;

constexpr std::atomic<bool> kNever = false;

// Those of one folder, which are called "#1" and so on.
std::vector<serve::JobPtr> recordings_of(const std::string& folder) {
  serve::Finder finder({folder});
  std::vector<serve::JobPtr> jobs = finder.look_with_times(Host::at("/").unix_now(), kNever);
  std::erase_if(jobs, [](const serve::JobPtr& job) { return !job->folder.starts_with(".#"); });
  return jobs;
}

std::string words_of(size_t count) {
  if (count == 0) return "no recordings that can be told apart";
  return count == 1 ? "one recording: #1" : fmt::format("{} recordings: #1 to #{}", count, count);
}

Result<void> add(const std::string& path, std::vector<std::string>& all) {
  const size_t mark = path.rfind('#');
  std::error_code ignored;
  const bool is_recording = mark != path.npos && number_in<u32>(std::string_view(path).substr(mark + 1)) &&
                            !fs::exists(path, ignored) && fs::is_directory(path.substr(0, mark), ignored);
  if (!is_recording) {
    all.push_back(path);
    return {};
  }
  const std::string folder = path.substr(0, mark);
  const auto jobs = recordings_of(folder);
  const auto it =
      std::ranges::find(jobs, "." + path.substr(mark), [](const auto& job) { return job->folder; });
  if (it == jobs.end())
    return fail(Code::not_found, "{}: the folder has {}", to_printable(path), words_of(jobs.size()));
  all.insert(all.end(), (*it)->paths.begin(), (*it)->paths.end());
  return {};
}

bool has_ranks_twice(const Job& job) {
  std::set<i64> ranks;
  return std::ranges::any_of(job.files, [&](const TraceFile& f) {
    return f.rank_source == RankSource::file_contents && f.rank && !ranks.insert(*f.rank).second;
  });
}

Result<void> refuse_several(const std::vector<std::string>& paths) {
  std::error_code ignored;
  for (const std::string& path : paths) {
    const size_t count = fs::is_directory(path, ignored) ? recordings_of(path).size() : 0;
    if (count > 1)
      return fail(Code::invalid, "{}: the folder has {}; name one of them, as in {}", to_printable(path),
                  words_of(count), shell_word(path + "#1"));
  }
  return {};
}

}  // namespace

Result<Job> open_paths(std::span<const std::string> paths) {
  std::vector<std::string> all;
  for (const std::string& path : paths) TRY(add(path, all));
  TRY_ASSIGN(Job job, read::open_job(all));
  if (has_ranks_twice(job)) TRY(refuse_several(all));
  return job;
}

}  // namespace spotter::app
