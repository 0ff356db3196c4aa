#include "read/open.h"

#include <dirent.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/stable_sort.h"
#include "base/text/utf8.h"
#include "base/time.h"
#include "read/endings.h"
#include "read/envelope.h"
#include "read/flight_recorder/flight_recorder.h"
#include "read/pipeline.h"
#include "read/receipts.h"
#include "read/source.h"
#include "read/unknown_categories.h"

namespace spotter::read {
namespace {

constexpr std::string_view kTruth =
    "truth.json";  // what a simulation tells of its traces: src/simulate/truth.h

// What the paths stand for.
struct Found {
  std::set<std::string> traces, receipts, flight_records;
  std::set<std::string> in_folders;  // of the traces those that nobody named
};

// A pipe can be read only once, and makes its reader wait.
bool is_pipe_or_device(const std::string& path) {
  struct stat info;
  return path == "-" ||
         (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

bool is_link(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

bool is_directory(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string inside_of(const std::string& folder, std::string_view name) {
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
}

// Whether there are any traces. `folders`: the names of those in it, if wanted.
Result<bool> list_files(const std::string& path, Links links, Found& found,
                        std::set<std::string>* folders = nullptr) {
  DIR* dir = ::opendir(path.c_str());
  if (!dir) return fail(Code::io, "{}: {}", path, errno_text(errno));
  bool any = false;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    const std::string inside = inside_of(path, name);
    if (links == Links::passed_over && is_link(inside)) continue;
    if (folders && name.front() != '.' && is_directory(inside)) folders->emplace(name);
    if (name.front() == '.' || name == kTruth || is_pipe_or_device(inside)) continue;
    if (is_named_receipts(name) || begins_like_receipts(inside)) {
      found.receipts.insert(inside);
    } else if (begins_like_flight_record(inside)) {
      found.flight_records.insert(inside);
    } else if (ending_of(name)) {
      found.traces.insert(inside);
      found.in_folders.insert(inside);
      any = true;
    }
  }
  ::closedir(dir);
  return any;
}

// Where the traces may be instead: "; its folders r0, r1 have some: give 'runs/*/'".
std::string hint_at_folders(const std::string& path, const std::set<std::string>& folders) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> with_traces;
  for (const std::string& name : folders) {
    Found unused;
    if (list_files(inside_of(path, name), Links::followed, unused).value_or(false))
      with_traces.push_back(name);
  }
  const size_t n = with_traces.size();
  if (n == 0) return "";
  const std::string names =
      fmt::format("{}", fmt::join(std::span(with_traces).first(std::min(n, kNamed)), ", "));
  const std::string more = n > kNamed ? fmt::format(" and {} more", n - kNamed) : "";
  if (n == 1) return fmt::format("; its folder {} has some: give '{}'", names, inside_of(path, names));
  const bool is_pattern = path.find_first_of("*?[~") != path.npos;
  if (n < folders.size() || is_pattern)
    return fmt::format("; its folders {}{} have some: give those", names, more);
  return fmt::format("; its folders {}{} have some: give '{}'", names, more, inside_of(path, "*/"));
}

Result<void> list_directory(const std::string& path, Links links, Found& found) {
  std::set<std::string> folders;
  TRY_ASSIGN(const bool any, list_files(path, links, found, &folders));
  if (any || !found.flight_records.empty()) return {};
  return fail(Code::not_found,
              "{}: no traces in this directory (files ending in .json, .json.gz or .json.zst){}", path,
              hint_at_folders(path, folders));
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found = {};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), GLOB_TILDE, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return paths;
}

// What a path is that is an address; empty: it is none.
std::string hint_at_address(std::string_view path) {
  const size_t colon = path.find("://");
  if (colon == path.npos || colon == 0) return {};
  const std::string scheme = ascii_lower(path.substr(0, colon));
  if (scheme.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-.") != scheme.npos) return {};
  if (scheme == "file") return "an address; give the path of the file alone";
  const char* fetch = scheme == "s3"                          ? "aws s3 cp ADDRESS -"
                      : scheme == "gs"                        ? "gcloud storage cat ADDRESS"
                      : scheme == "http" || scheme == "https" ? "curl -fsSL ADDRESS"
                                                              : nullptr;
  if (!fetch) return "an address; only files are read: fetch it first, or give it by standard input (-)";
  return fmt::format("an address; only files are read: fetch it first, or `{} | spotter analyze -`", fetch);
}

Result<void> add(const std::string& path, Links links, Found& found) {
  struct stat info;
  if (path == "-") {
    found.traces.insert(path);
  } else if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return list_directory(path, links, found);
    (begins_like_receipts(path)        ? found.receipts
     : begins_like_flight_record(path) ? found.flight_records
                                       : found.traces)
        .insert(path);
  } else if (errno != ENOENT) {
    return fail(errno == EACCES ? Code::denied : Code::io, "{}: {}", path, errno_text(errno));
  } else {
    const bool pattern = path.find_first_of("*?[") != path.npos;
    const std::vector<std::string> matching = pattern ? matches(path) : std::vector<std::string>{};
    if (matching.empty()) {
      const std::string address = hint_at_address(path);
      return fail(Code::not_found, "{}: {}", path,
                  !address.empty() ? address
                  : pattern        ? "no file matches this pattern"
                                   : "no such file or directory");
    }
    for (const std::string& match : matching) TRY(add(match, links, found));
  }
  return {};
}

// JSON beside a pickle of the same dump only tells less. Of several dumps of a rank the newest comes first.
void add_flight_records(const std::set<std::string>& found, Job& job) {
  std::map<std::string, std::string> beside;  // by the pickle
  for (const std::string& path : found) {
    const std::string stem(without_ending(path));
    if (stem != path && found.contains(stem)) beside[stem] = path;
  }
  std::vector<std::pair<i64, FlightRecordFile>> files;  // how old it is, in ns
  for (const std::string& path : found) {
    const std::string stem(without_ending(path));
    const std::optional<i64> rank = rank_of_flight_record(path);
    if (!rank || (stem != path && found.contains(stem))) continue;
    struct stat info{};
    const bool is_there = ::stat(path.c_str(), &info) == 0;
    const i64 age = is_there ? -(info.st_mtim.tv_sec * kSecond + info.st_mtim.tv_nsec) : 0;
    const auto other = beside.find(path);
    files.push_back({age, {path, *rank, other == beside.end() ? "" : other->second}});
  }
  stable_sort(files, [](const auto& a, const auto& b) {
    return std::tie(a.second.rank, a.first) < std::tie(b.second.rank, b.first);
  });
  for (auto& [age, file] : files) job.flight_records.push_back(std::move(file));
}

}  // namespace

Result<Job> open_job(std::span<const std::string> paths, Links links) {
  Found found;
  for (const std::string& path : paths) TRY(add(path, links, found));
  if (found.traces.empty() && !found.receipts.empty()) {
    return fail(Code::not_found, "{}: the receipts of a capture, not a trace; open the folder of its traces",
                *found.receipts.begin());
  }
  std::set<std::pair<dev_t, ino_t>> seen;  // one file by two names is one file
  Job job;
  for (const std::string& path : found.traces) {
    TraceFile file;
    file.path = path;
    file.is_plain = found.in_folders.contains(path);  // what is none by now is not meant
    struct stat info;
    if (path != "-" && ::stat(path.c_str(), &info) == 0) {
      file.is_plain |= S_ISREG(info.st_mode);
      if (S_ISREG(info.st_mode) && !seen.emplace(info.st_dev, info.st_ino).second) continue;
      file.bytes = info.st_size;
      const Ending* ending = ending_of(path);
      file.json_bytes = file.bytes * (ending ? ending->ratio : 1);
    }
    job.files.push_back(std::move(file));
  }
  if (job.files.size() > 1) {
    for (TraceFile& file : job.files) {
      // Whatever is wrong with the file is said when it is loaded.
      if (!is_pipe_or_device(file.path)) std::ignore = read_head(file);
    }
  }
  add_receipts(found.receipts, job);
  add_flight_records(found.flight_records, job);
  return job;
}

Result<void> read_head(TraceFile& file) {
  constexpr size_t kHeadBytes = size_t{64} << 10;
  Notes unused;
  TRY_ASSIGN(const std::string text, read_text(file.path, kHeadBytes, unused));
  TRY_ASSIGN(const EventsStart start, find_events(text, text.size() < kHeadBytes, file.path));
  if (!start.found) return {};
  TraceInfo info;
  read_info(start.members, {}, false, info, unused);
  file.host = info.host_name;
  if (info.base_ns != 0) file.base_ns = info.base_ns;
  if (info.rank) {
    file.rank = info.rank;
    file.rank_source = RankSource::file_contents;
  }
  return {};
}

Result<TracePtr> load(const TraceFile& file, const LoadRequest& request) {
  TRY_ASSIGN(const std::unique_ptr<RawInput> input, file.descriptor >= 0
                                                        ? RawInput::of(file.descriptor, file.path)
                                                        : RawInput::open(file.path, request.cancelled));
  if (file.is_plain && !input->is_file())
    return fail(Code::invalid, "{}: was a plain file, and is none any more", file.path);
  TRY_ASSIGN(const std::unique_ptr<Source> source, open_source(*input));
  TRY_ASSIGN(TraceData data, read_events(*input, *source, request));
  data.info.path = file.path;
  if (data.info.host_name.empty()) data.info.host_name = file.host;
  note_unknown_categories(data);
  return std::make_unique<Trace>(std::move(data));
}

}  // namespace spotter::read
