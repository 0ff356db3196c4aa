#include "collect/logs/job_logs.h"

#include <algorithm>
#include <utility>

#include "collect/logs/pod_line.h"

namespace spotter::collect {
namespace {

constexpr size_t kMostPlaces = 256;
constexpr Ns kFileTimeWithin = 10 * kMillisecond;  // the kernel's clock of files ticks so seldom

constexpr std::string_view kTraceback = "traceback";

// Behind the rank that PyTorch puts before each line, or the worker that torchrun does.
bool is_indented(std::string_view line) {
  constexpr size_t kLongestPrefix = 32;
  const size_t end = line.substr(0, kLongestPrefix).find("]:");
  if (line.starts_with('[') && end != line.npos) {
    line.remove_prefix(end + 2);
    if (line.starts_with(' ')) line.remove_prefix(1);
  }
  return line.empty() || line.starts_with(' ');
}

constexpr size_t kMostUnusual = 8;  // lines in a sample

bool is_private(const FoundLog& log) { return !log.is_pod && (log.state.st_mode & S_IROTH) == 0; }

}  // namespace

void JobLogs::find(std::vector<FoundLog> logs, RefusedLogs& refused) {
  for (Tail& tail : files_) {
    const auto same =
        std::ranges::find_if(logs, [&](const FoundLog& log) { return tail.file.is(log.state); });
    const auto next =
        std::ranges::find_if(logs, [&](const FoundLog& log) { return log.place == tail.file.found().place; });
    if (same != logs.end()) {
      tail.file.move_to(std::move(*same));
      logs.erase(same);
    } else if (next != logs.end()) {
      tail.file.follow(std::move(*next));
      logs.erase(next);
    } else {
      tail.file.leave();
    }
  }
  files_left_out_ = 0;
  for (FoundLog& log : logs) {
    if (files_.size() == kMostFiles) {
      ++files_left_out_;
      continue;
    }
    if (places_.size() == kMostPlaces) places_.clear();
    // What comes where there was a file of the job before is all of its own.
    const bool is_new_place = places_.insert(log.place).second;
    const std::string shown = log.shown;
    auto file = LogFile::open(std::move(log), is_new_place, counts_);
    if (file)
      files_.push_back(Tail{next_id_++, std::move(*file)});
    else
      refused.add(file.error().message, shown);
  }
}

i64 JobLogs::read(const LineReaders& readers, Ns unix_now, Ns elapsed, i64 most_bytes) {
  if (files_.empty()) return 0;
  const i64 before = counts_.read_bytes;
  const i64 share = std::max<i64>(most_bytes / std::ssize(files_), 1);
  for (Tail& tail : files_)
    tail.file.read(share, [&](const LogLine& line) {
      for_each_whole(tail, line,
                     [&](const Whole& whole) { take_line(readers, tail, line, whole, unix_now, elapsed); });
    });
  files_.remove_if([this](const Tail& tail) {
    if (tail.file.is_over()) loop_.leave(tail.id);
    return tail.file.is_over();
  });
  return counts_.read_bytes - before;
}

void JobLogs::for_each_whole(Tail& tail, const LogLine& line, const std::function<void(const Whole&)>& act) {
  if (!tail.file.found().is_pod) return act({line.text, line.offset, {}});
  const auto pod = parse_pod_line(line.text);
  if (!pod) return;
  Stream& stream = tail.streams[pod->is_error ? 1 : 0];
  if (stream.segments.begin() == stream.segments.end()) stream.begun_at = line.offset;
  const auto visit = [&](std::string_view text) {
    act({text, stream.begun_at, pod->stamp});
    stream.begun_at = line.offset;
  };
  stream.segments.add(pod->text, visit);
  if (!pod->is_partial) stream.segments.add("\n", visit);
}

void JobLogs::take_line(const LineReaders& readers, Tail& tail, const LogLine& line, const Whole& whole,
                        Ns unix_now, Ns elapsed) {
  if (auto step = readers.steps.step(whole.text); step && step->step) {
    if (!step->stamp) step->stamp = whole.stamp;
    // A file is found at a look, and read from the next sample on.
    const Ns within = line.is_found_late ? kLookEvery + 2 * elapsed : elapsed;
    const bool is_timed = line.written && *line.written <= unix_now && *line.written > unix_now - within;
    loop_.add({.line = *step,
               .file = tail.id,
               .at = is_timed ? *line.written : unix_now,
               .at_within = is_timed ? kFileTimeWithin : within});
  }
  take_kind(tail, whole, take_fatal(readers, tail, whole), unix_now);
}

// Of a traceback the line that counts is the one behind it: what was raised.
bool JobLogs::take_fatal(const LineReaders& readers, Tail& tail, const Whole& line) {
  const FoundLog& log = tail.file.found();
  const auto fatal = readers.fatal.match(line.text);
  if (fatal) fatal_.add(*fatal, line.text, is_private(log), log.shown, line.offset);
  const bool begins = fatal && fatal->kind->name == kTraceback;
  if (!begins && tail.is_in_traceback && !is_indented(line.text)) {
    fatal_.explain(kTraceback, line.text);
    tail.is_in_traceback = false;
  }
  tail.is_in_traceback = tail.is_in_traceback || begins;
  return fatal.has_value() || tail.is_in_traceback;
}

// Those that are fatal, and what they are about, are told anyhow.
void JobLogs::take_kind(Tail& tail, const Whole& line, bool is_fatal, Ns unix_now) {
  const respond::LogTemplates::Word word = kinds_.add(line.text, unix_now);
  if (word == respond::LogTemplates::Word::usual || is_fatal || unusual_.size() >= kMostUnusual) return;
  const FoundLog& log = tail.file.found();
  FatalEvent& event = unusual_.emplace_back();
  event.kind = word == respond::LogTemplates::Word::is_new ? "new_line" : "more_often";
  event.lines = 1;
  if (!is_private(log)) event.text = FatalCounts::shown(line.text);
  event.file = log.shown;
  event.offset = line.offset;
}

}  // namespace spotter::collect
