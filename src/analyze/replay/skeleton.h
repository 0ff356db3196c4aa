// Skeleton: what of one rank's trace it takes to run its job again with other times. A program of some
// hundred rows a step in the order in which the host came to them, whatever its thread: what it launched,
// what waited for what, where it stood still, and how long its kernels took by kind. Some tens of kB a step,
// so that the skeletons of a thousand ranks fit where none of their traces would.
//
// Rows tile the host's time: a row takes `host` of it, then the next one begins. Waiting for the device is in
// no row: it follows anew from the others. Times of the trace overrule what was inferred: a wait that nobody
// recorded is believed only where they allow it.
#pragma once
#include <span>
#include <vector>

#include "base/notes.h"
#include "base/text/strings.h"
#include "base/types.h"

namespace spotter::analyze {

enum class SkeletonOp : u8 {
  step,        // a step begins; `number` is its own
  end,         // the last step's mark has ended
  last_call,   // of a group, at the recording's end: what was asked of it, and what of that has ended
  open_span,   // the host was inside it when the recording ended
  recorded,    // without a device: the recording ended `at`
  run,         // launches that follow each other onto one stream, without a row between
  collective,  // a kernel of communication, sends and receives included
  wait,        // what comes next on `stream` waits for row `target`
  await,       // what the next `sync` waits for: row `target`
  sync,        // the host waits for the rows awaited
  pause,       // the host launches nothing for longer than usual; `cause` says what it does
  compute,     // without a device: operators that follow each other on the host, `device` in all
  work,        // device work of one kind in the step before: `count` pieces, `device` in all
  count_
};

// Why a host launches nothing, or waits.
enum class Cause : u8 {
  none,
  silence,       // longer than usual, whatever it did
  after_sync,    // right behind a wait for the device, of any length: it could prepare nothing meanwhile
  data_loading,  // it waits for the next batch
  allocation,    // a call of the device's allocator
  compilation,   // code is compiled or loaded onto the device
  recording,     // the profiler itself works
  copy,  // of a sync on a device; silence: it waits for a call on the host; for its own copy, from or to
         // pageable memory
  host_thread,  // of a collective: a thread of the host makes it, not a kernel
  count_
};

// Where a launch of a run comes to its stream, since the run's first call began, and how long the stream then
// works to the run's end.
struct HullPoint {
  Ns lead = 0, rest = 0;
  bool operator==(const HullPoint&) const = default;
};
inline constexpr size_t kHullPoints = 4;

// Durations of rows are at most this, six years, so that a few hundred of them can be added up.
inline constexpr Ns kLongestSpan = Ns{1} << 57;
inline constexpr i64 kNoPeer = -1;

inline constexpr std::string_view kByOptimizer = "optimizer";
inline constexpr std::string_view kUnmarked = "unmarked";  // all that was recorded, in want of steps

struct SkeletonRow {
  SkeletonOp op = SkeletonOp::run;
  Cause cause = Cause::none;  // of pause, sync; of work: copy, or none; of collective: host_thread, or none
  u8 points = 0;              // of its hull
  StringId name = 0;  // of end: the device; of collective, last_call: what it is called; of work: the kernel;
                      // of sync, pause: what was around it; of step: kByOptimizer, if an optimizer's ends it,
                      // kUnmarked
  StringId group = 0;  // of collective: name, ranks and description of its group, else its stream's number;
                       // of step: the host
  u32 stream = kNone;  // of run, collective, wait: its number among the rank's streams
  u32 target = kNone;  // of wait, await: a row before this one
  u32 hull = 0;        // where its points begin in Skeleton::hull
  Ns at = 0;           // when the host came to it, Unix time
  Ns host = 0;         // that it takes of the host's time; of sync: behind the wait
  Ns device = 0;       // of run, compute, work: their pieces together
  Ns gap = 0;          // of run, collective: how long its stream idled though the work had been launched
  Ns start = 0, end = 0;  // of collective: its kernel, Unix time; of step and end: the mark, and when all
                          // device work before it has ended; of last_call: the recording's end
  i64 count =
      0;  // of step: 1 for an iteration of inference; of last_call: calls that were made; of run, work:
          // pieces; of collective: bytes that cross a link, 0: not known; of pause: time that operators cover
  i64 number = 0;  // of step: its own; of last_call: calls that have ended; of open_span: devices that the
                   // process sees; of collective: that in its group, else -1; of end: the device's; of
                   // pause: its place in the step; of work: its kind. Places and kinds are equal on all ranks
                   // for the same thing.
  i64 peer = kNoPeer;  // of a send or receive: the other rank
};

struct Skeleton {
  std::vector<SkeletonRow> rows;
  std::vector<HullPoint> hull;  // of all rows
  Strings strings;              // names and groups
  Notes notes;

  // When a run ends is the latest of (the end of its stream before) + gap + device and, for each point, (the
  // first call's start) + lead + rest. A collective has one point, without a rest.
  std::span<const HullPoint> hull_of(const SkeletonRow& row) const {
    return std::span(hull).subspan(row.hull, row.points);
  }
  // The row as the last one, with these points.
  SkeletonRow& add(SkeletonRow row, std::span<const HullPoint> points = {}) {
    row.points = static_cast<u8>(points.size());
    row.hull = static_cast<u32>(hull.size());
    hull.insert(hull.end(), points.begin(), points.end());
    return rows.emplace_back(row);
  }
};

}  // namespace spotter::analyze
