// LogFile: one file to which a job writes lines, read from its end on, and further in what follows it when it
// is replaced (rotated), cut off or removed. What is too much for the time is skipped and counted. One
// thread.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "collect/logs/log_places.h"
#include "respond/logs/log_segments.h"

namespace spotter::collect {

struct LogLine {
  std::string_view text;
  i64 offset = 0;                  // of its first byte, in the file
  std::optional<Ns> written = {};  // when, where that is known: it is the newest of the file
  bool is_found_late = false;      // the file was there before it was found: since the look before that
};

struct LogCounts {
  i64 read_bytes = 0, lines = 0;
  i64 skipped_bytes = 0;  // there were too many
  i64 cut_lines = 0;      // longer than a segment may be
  i64 replaced = 0;       // files that follow another under its name
  i64 cut_off = 0;        // files that became shorter
};

class LogFile {
 public:
  // Errors: denied, io.
  static Result<LogFile> open(FoundLog found, bool from_its_end, LogCounts& counts);

  bool is(const struct stat& state) const {
    return state.st_dev == state_.st_dev && state.st_ino == state_.st_ino;
  }
  const FoundLog& found() const { return found_; }
  // It is the same file, found elsewhere.
  void move_to(FoundLog found) {
    found_.place = std::move(found.place);
    found_.state = found.state;  // who may read it may have changed
    is_gone_ = false;
  }
  // Nobody has it any more, or another one has its place, which is read next.
  void leave() { is_gone_ = true; }
  void follow(FoundLog next) { next_ = std::move(next); }

  using Visit = std::function<void(const LogLine&)>;
  // What was added, at most so many bytes.
  void read(i64 most_bytes, const Visit& visit);
  bool is_over() const { return is_over_; }  // it is gone, and read to its end

 private:
  explicit LogFile(FoundLog found, LogCounts& counts) : found_(std::move(found)), counts_(&counts) {}
  Result<void> begin(bool from_its_end);
  void resume_at(i64 offset);
  bool ends_line(char c) const { return c == '\n' || (c == '\r' && !found_.is_pod); }
  void read_to(i64 end, i64 most_bytes, Ns written, const Visit& visit);
  void finish(const Visit& visit);
  void tell(std::string_view text, std::optional<Ns> written, const Visit& visit);

  FoundLog found_;
  LogCounts* counts_;
  struct stat state_{};
  Descriptor file_;
  i64 offset_ = 0;
  respond::LogSegments segments_;
  i64 base_ = 0;                // where in the file the first byte of segments_ is
  bool is_within_ = false;      // a line whose beginning was not read
  bool is_found_late_ = false;  // and is read for the first time
  bool is_gone_ = false, is_over_ = false;
  std::optional<FoundLog> next_;
};

}  // namespace spotter::collect
