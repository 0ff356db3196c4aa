// JobLogs: the logs of one job: its files, the loop whose steps they tell, its fatal lines. One thread.
#pragma once
#include <functional>
#include <list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "collect/logs/fatal_counts.h"
#include "collect/logs/log_file.h"
#include "collect/logs/logged_steps.h"
#include "respond/logs/log_templates.h"
#include "respond/steps/step_lines.h"
#include "respond/steps/step_loop.h"

namespace spotter::collect {

// What all jobs have in common.
struct LineReaders {
  respond::StepLines steps;
  respond::FatalLines fatal;
};

class JobLogs {
 public:
  static constexpr size_t kMostFiles = 8;
  static constexpr i64 kBytesPerSecond = i64{1} << 20;
  static constexpr Ns kLookEvery = 5 * kSecond;  // find() is called so often

  JobLogs() = default;
  JobLogs(const JobLogs&) = delete;
  JobLogs& operator=(const JobLogs&) = delete;

  // Its files as they are found now, each once, best first.
  void find(std::vector<FoundLog> logs, RefusedLogs& refused);
  // What comes to this place again is read from its end on: meanwhile somebody else reads it.
  void forget(const std::string& place) { places_.erase(place); }
  // What has been written since the last time, from `elapsed` ago until now; of all at most so many bytes.
  // Returns how many were read.
  i64 read(const LineReaders& readers, Ns unix_now, Ns elapsed, i64 most_bytes);

  size_t files() const { return files_.size(); }
  i64 files_left_out() const { return files_left_out_; }
  const LogCounts& counts() const { return counts_; }
  respond::StepLoop& loop() { return loop_; }
  FatalCounts& fatal() { return fatal_; }
  // Lines that are of a kind that was never there, or comes far more often; of very many the first.
  std::vector<FatalEvent> take_unusual() { return std::exchange(unusual_, {}); }

 private:
  // What a pod itself wrote, in however many lines of its log.
  struct Stream {
    respond::LogSegments segments;
    i64 begun_at = 0;
  };
  struct Tail {
    u64 id = 0;
    LogFile file;
    Stream streams[2] = {};  // of a pod: stdout and stderr
    bool is_in_traceback = false;
  };
  struct Whole {
    std::string_view text;
    i64 offset = 0;
    std::optional<Ns> stamp;
  };
  // The lines that a job wrote: of a pod's log none, one, or many.
  static void for_each_whole(Tail& tail, const LogLine& line, const std::function<void(const Whole&)>& act);
  bool take_fatal(const LineReaders& readers, Tail& tail, const Whole& line);
  void take_kind(Tail& tail, const Whole& line, bool is_fatal, Ns unix_now);
  void take_line(const LineReaders& readers, Tail& tail, const LogLine& line, const Whole& whole, Ns unix_now,
                 Ns elapsed);

  LogCounts counts_;  // files point to it
  std::list<Tail> files_;
  std::set<std::string> places_;  // where files of it were
  respond::StepLoop loop_;
  FatalCounts fatal_;
  respond::LogTemplates kinds_;
  std::vector<FatalEvent> unusual_;
  u64 next_id_ = 0;
  i64 files_left_out_ = 0;
};

}  // namespace spotter::collect
