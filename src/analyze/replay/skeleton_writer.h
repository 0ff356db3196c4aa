// SkeletonWriter: rows in the order in which the host comes to them, each with what it takes of the host's
// time.
#pragma once
#include <unordered_map>

#include "analyze/replay/gap_cover.h"
#include "analyze/replay/skeleton.h"
#include "trace/trace.h"

namespace spotter::analyze {

class SkeletonWriter {
 public:
  SkeletonWriter(const Trace& trace, std::span<const u32> tracks) : trace_(trace), cover_(trace, tracks) {}

  // The host has come to `time`: what passed since was the last row's.
  void advance(Ns time);
  // It only waited up to `time`.
  void wait_until(Ns time) { mark_ = std::max(mark_, time); }
  Ns mark() const { return mark_; }  // up to here its time is given to rows

  SkeletonRow& push(Ns at, SkeletonRow row, std::span<const HullPoint> points = {});
  // `work_end`: of all device work before it.
  void push_step(Ns at, i64 number, Ns work_end);
  // All of [begin, end); `last` and `next` are the events around it, which with how often that was so in the
  // step before tell its place. What was before the step does not: before the first one nothing was recorded.
  void push_pause(Cause kind, Ns begin, Ns end, StringId name, EventId last, EventId next);
  // The row that takes the host's time now.
  SkeletonRow& last() { return skeleton_.rows[tile_]; }
  bool is_empty() const { return skeleton_.rows.empty(); }

  StringId intern(StringId of_trace);
  const GapCover& cover() const { return cover_; }
  Skeleton& skeleton() { return skeleton_; }

 private:
  const Trace& trace_;
  const GapCover cover_;
  Skeleton skeleton_;
  std::unordered_map<u64, u64> places_;  // of the present step: how often each was there
  size_t tile_ = 0;
  Ns mark_ = -kMaxTime, step_ = -kMaxTime;
};

}  // namespace spotter::analyze
