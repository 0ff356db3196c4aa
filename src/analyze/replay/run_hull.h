// RunHull: when a run of kernels ends, whatever its stream did before and however late its launches are. Of
// its launches only those matter that can be the last to hold it up: the upper hull of the points (lead,
// rest). Exact also where all host time or all device time of the run is scaled.
#pragma once
#include "analyze/replay/skeleton.h"

namespace spotter::analyze {

class RunHull {
 public:
  // Of the skeleton's last row.
  explicit RunHull(Skeleton& skeleton) : row_(skeleton.rows.back()), hull_(skeleton.hull) {}

  // A further piece of work, launched so that it can begin `lead` after the run's first call, `gap` after the
  // piece before it. False, and nothing is added, where the row has no place for another point.
  bool add(Ns lead, Ns gap, Ns dur) {
    // What is below the hull stays there: later pieces lengthen all rests alike.
    const HullPoint* const points = hull_.data() + row_.hull;
    u8 kept = row_.points;
    if (kept > 0 && points[kept - 1].lead >= lead) {
      extend(gap, dur);
      return true;
    }
    const HullPoint point = {lead, -(row_.gap + gap + row_.device)};
    while (kept > 1 && is_below(points[kept - 2], points[kept - 1], point)) --kept;
    if (kept == kHullPoints) return false;
    hull_.resize(row_.hull + kept);
    hull_.push_back(point);
    row_.points = static_cast<u8>(kept + 1);
    extend(gap, dur);
    return true;
  }
  // A piece that begins with no launch of its own.
  void extend(Ns gap, Ns dur) {
    row_.gap += gap;
    row_.device += dur;
    ++row_.count;
  }
  // Rests are kept from the run's beginning on while it grows; afterwards from its end.
  static void finish(Skeleton& skeleton, const SkeletonRow& run) {
    for (u8 i = 0; i < run.points; ++i) skeleton.hull[run.hull + i].rest += run.gap + run.device;
  }

 private:
  static bool is_below(const HullPoint& a, const HullPoint& b, const HullPoint& c) {
    return i128{b.lead - a.lead} * (c.rest - a.rest) >= i128{c.lead - a.lead} * (b.rest - a.rest);
  }

  SkeletonRow& row_;
  std::vector<HullPoint>& hull_;
};

}  // namespace spotter::analyze
