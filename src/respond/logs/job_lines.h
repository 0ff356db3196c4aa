// JobLines: what the logs of jobs have told lately that is unusual, for the incidents of the same time. Text
// of a job is untrusted: printable and short. One thread.
#pragma once
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "respond/incidents/incident.h"
#include "respond/rules/log_rows.h"

namespace spotter::respond {

class JobLines {
 public:
  void see(const Sample& sample);  // of the table `log_event`; others are not looked at
  // Of a job, those that were read since then: fatal ones first, no kind of them
  // twice, then the first others.
  std::vector<LogLine> since(const std::string& job, Ns from) const;

  static constexpr size_t kShown = 5;

 private:
  struct Line {
    Ns at = 0;
    LogRow row = {};
  };
  LogRows rows_;
  std::map<std::string, std::deque<Line>> jobs_;
};

}  // namespace spotter::respond
