// The ids of the processes of several ranks in one file. On their own ranks have the same: every first GPU is
// process 0.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace spotter::export_ {

// What the trace calls a process: its id in decimal, or the text that it is.
std::string process_of(const Trace& trace, const Track& track);

// Of one rank. Ids are given out from `next` on, which the ranks share, as they are asked for.
class ProcessIds {
 public:
  explicit ProcessIds(i64& next) : next_(&next) {}

  i64 of(const Trace& trace, const Track& track) { return of_name(process_of(trace, track)); }
  i64 of(std::string_view raw);  // the value of "pid" as JSON; empty: it has none

  struct Process {
    i64 id;
    std::string was;  // as the trace calls it
  };
  const std::vector<Process>& all() const { return all_; }

 private:
  i64 of_name(const std::string& was);

  i64* next_;
  std::unordered_map<std::string, i64> ids_;
  std::vector<Process> all_;
};

}  // namespace spotter::export_
