#include "serve/finder.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/system/descriptor.h"
#include "base/system/file.h"
#include "base/time.h"
#include "net/digest.h"
#include "read/endings.h"
#include "read/open.h"
#include "read/receipts.h"
#include "trace/extent.h"

namespace spotter::serve {
namespace {

constexpr size_t kIdDigits = 16;
// A writer pauses for less than this; what is cut off for longer was left so.
constexpr Ns kFresh = 2 * kSecond, kLeft = 60 * kSecond;

// Whether a file ends as JSON does. Of what is compressed that is not told without reading it all.
bool ends_whole(const std::string& path, const FoundFile& file) {
  if (!path.ends_with(".json")) return true;
  const Result<int> opened = open_found(path, file);
  if (!opened) return true;
  const Descriptor descriptor(*opened);
  std::array<char, 64> end{};
  const auto from = std::max<i64>(0, file.bytes - static_cast<i64>(end.size()));
  const ssize_t n = ::pread(descriptor.fd, end.data(), end.size(), from);
  const std::string_view text(end.data(), n < 0 ? 0 : static_cast<size_t>(n));
  const size_t last = text.find_last_not_of(" \t\r\n");
  return last != text.npos && (text[last] == '}' || text[last] == ']');
}

std::string path_of(const FoundFolder& folder, const FoundFile& file) {
  if (folder.is_file) return folder.path;
  return fmt::format("{}{}{}", folder.path, folder.path.ends_with('/') ? "" : "/", file.name);
}

// As people see it; of several roots with the root.
std::string shown_place(const FoundFolder& folder, bool is_only_root) {
  if (folder.is_file) return is_only_root ? folder.files[0].name : folder.path;
  if (!is_only_root) return folder.path;
  return folder.below.empty() ? "." : folder.below;
}

// The root itself has no place below it, but a name.
std::string title_of(const FoundFolder& folder, const std::string& shown) {
  if (shown != ".") return shown;
  std::error_code ignored;
  const std::string name = std::filesystem::weakly_canonical(folder.path, ignored).filename();
  return name.empty() ? shown : name;
}

}  // namespace

Finder::Known& Finder::learn(const std::string& path, const FoundFile& file) {
  Known& known = known_[path];
  if (known.file == file) return known;
  known = {.file = file, .rank = {}, .host = {}, .start = {}, .end = {}};
  if (!read::ending_of(path) || read::is_named_receipts(base_name(path)) || read::begins_like_receipts(path))
    return known;
  TraceFile head;
  head.path = path;
  known.is_trace = file.bytes > 0 && read::read_head(head).has_value();
  if (!known.is_trace) return known;
  known.is_whole = ends_whole(path, file);
  known.rank = head.rank;
  known.host = head.host;
  return known;
}

JobPtr Finder::make_job(size_t root, const FoundFolder& folder, const Span& span, bool is_all, Ns now) {
  auto job = std::make_shared<FoundJob>();
  const std::string mark = span.label.empty() ? "" : "#" + span.label;
  job->id = net::sha256(fmt::format("{}:{}\n{}", root, folder.below, mark)).substr(0, kIdDigits);
  const std::string place_below = shown_place(folder, roots_.size() == 1);
  job->folder = place_below + mark;
  job->title = title_of(folder, place_below) + mark;
  std::string all;
  bool any = false;
  for (const size_t place : span.files) {
    const FoundFile& file = folder.files[place];
    JobFile one{.path = path_of(folder, file), .found = file, .rank = {}, .host = {}};
    const Known& known = learn(one.path, file);
    one.is_trace = known.is_trace;
    one.rank = known.rank ? known.rank : rank_in_name(file.name);
    one.host = known.host;
    any |= one.is_trace;
    const Ns age = now - file.changed;
    job->is_written |= one.is_trace && age < (known.is_whole ? kFresh : kLeft);
    all += fmt::format("{} {} {} {} {}\n", file.name, file.bytes, file.changed, file.device, file.inode);
    if (!is_all) job->paths.push_back(one.path);
    job->files.push_back(std::move(one));
  }
  if (!any) return nullptr;
  if (is_all) job->paths = {folder.path};
  // A folder that is called so comes first for whoever opens that name.
  const std::string named = folder.path + mark;
  std::error_code ignored;
  job->named = mark.empty() || std::filesystem::exists(named, ignored) ? job->paths : std::vector{named};
  job->version = net::sha256(all);
  return job;
}

void Finder::add_folder(size_t root, const FoundFolder& folder, Ns now, std::vector<JobPtr>& jobs) {
  std::vector<Recording> recordings;
  std::vector<std::string> paths;
  for (const FoundFile& file : folder.files) {
    paths.push_back(path_of(folder, file));
    Known& known = learn(paths.back(), file);
    known.is_seen = true;
    recordings.push_back({file.name, known.rank, known.start, known.end});
  }
  for (const size_t place : repeated(recordings))
    if (!known_[paths[place]].has_times) to_time_.push_back(paths[place]);
  const std::vector<Span> spans = spans_of(recordings);
  const bool is_all = spans.size() == 1 && spans[0].label.empty();
  for (const Span& span : spans)
    if (JobPtr job = make_job(root, folder, span, is_all, now)) jobs.push_back(std::move(job));
}

std::vector<JobPtr> Finder::look(Ns now) {
  for (auto& [path, known] : known_) known.is_seen = false;
  to_time_.clear();
  std::vector<JobPtr> jobs;
  for (size_t root = 0; root < roots_.size(); ++root)
    for (const FoundFolder& folder : find_folders(roots_[root])) add_folder(root, folder, now, jobs);
  std::erase_if(known_, [](const auto& entry) { return !entry.second.is_seen; });
  return jobs;
}

std::vector<JobPtr> Finder::look_with_times(Ns now, const std::atomic<bool>& cancelled) {
  std::vector<JobPtr> jobs = look(now);
  bool is_new = false;
  while (!cancelled && learn_times(cancelled)) is_new = true;
  return is_new ? look(now) : jobs;
}

bool Finder::learn_times(const std::atomic<bool>& cancelled) {
  while (!to_time_.empty()) {
    const std::string path = std::move(to_time_.back());
    to_time_.pop_back();
    const auto it = known_.find(path);
    if (it == known_.end() || it->second.has_times) continue;
    Known& known = it->second;
    known.has_times = true;
    const Result<int> opened = open_found(path, known.file);
    if (!opened) continue;
    const Descriptor descriptor(*opened);
    TraceFile file;
    file.path = path;
    file.descriptor = descriptor.fd;
    LoadRequest how;
    how.args = ArgSet{};
    how.cancelled = &cancelled;
    const Result<TracePtr> trace = read::load(file, how);
    if (!trace) continue;
    if (const trace::Extent extent = trace::extent_of(**trace); extent.known()) {
      known.start = (*trace)->info().base_ns + extent.start;
      known.end = (*trace)->info().base_ns + extent.end;
    }
    return true;
  }
  return false;
}

}  // namespace spotter::serve
