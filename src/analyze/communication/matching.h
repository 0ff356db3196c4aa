// Matching: which runs on different ranks are the same collective, and what is waiting in them.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "analyze/analysis.h"
#include "analyze/communication/collective_calls.h"

namespace spotter::analyze {

// A rank's run of a collective. Times are held to those of traces (see kMaxTime), so that no difference of
// two overflows.
struct Run {
  u32 group = 0, name = 0;  // equal for equal texts
  i64 sequence = kNoSequence;
  size_t part = 0, row = 0;  // whose it is: of the tables
  Ns start = 0, end = 0;
  size_t collective = 0;  // which it is a run of; the answer
};

// The runs in the ranks' tables: rows with "group", "name", "sequence", "start_ns" (Unix time) and "dur_ns",
// for which `is_run` is true. Those of files without a rank, and those with impossible times, are left out
// and noted.
std::vector<Run> runs_of(std::span<const RankTable> tables, Notes& notes,
                         bool (*is_run)(const Table& table, size_t row) = nullptr);

// Fills in `collective` and sorts: the runs of a collective become neighbours, by start and then by part. It
// has at most one run of each part.
//
// Only runs of the same group, name and sequence number match. Those that have such a number do so one by
// one, by start (coalesced calls share a number). Of the others, a run belongs to the first collective whose
// runs have all not ended when it starts, and that has none of its part yet: none ends before the last has
// begun. Their order in the files would not do, as files may begin at different collectives.
void match(std::vector<Run>& runs);

// The runs of each collective, of matched runs.
std::vector<std::span<const Run>> collectives_of(std::span<const Run> runs);

// When a run's waiting ends and its transfer begins: when the last rank has come, at most its own end.
inline Ns transfer_start(const Run& run, Ns last_start) { return std::min(last_start, run.end); }

// How much of a collective the files have.
enum class Presence : u8 {
  all,    // of its group, or at least two of a group of which the size is not known
  some,   // at least two
  one,    // so that nobody can tell how long it waited, unless it is a group of one
  mixed,  // of more ranks than the group has: groups that the traces do not tell apart
};
Presence presence_of(std::span<const Run> collective, i64 group_size);  // 0: not known
inline bool can_tell_last(Presence presence) { return presence <= Presence::some; }

// Counts collectives by what there is of them.
class Presences {
 public:
  void add(Presence presence) { ++counts_[static_cast<size_t>(presence)]; }
  // Says how many are not there as a whole, of these runs.
  void note(std::span<const Run> runs, Notes& notes) const;

 private:
  i64 of(Presence presence) const { return counts_[static_cast<size_t>(presence)]; }
  std::array<i64, 4> counts_{};
};

// Says how many collectives had ended on one rank before they began on another.
void note_apart(std::span<const std::span<const Run>> collectives, std::string_view see, Notes& notes);

}  // namespace spotter::analyze
