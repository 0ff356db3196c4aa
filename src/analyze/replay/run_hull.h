// RunHull: when a run of kernels ends, whatever its stream did before and however late its launches are. Of
// its launches only those matter that can be the last to hold it up: the upper hull of the points (lead,
// rest). Exact also where all host time or all device time of the run is scaled.
#pragma once
#include "analyze/replay/skeleton.h"

namespace spotter::analyze {

class RunHull {
 public:
  explicit RunHull(SkeletonRow& row) : row_(row) {}

  // A further piece of work, launched so that it can begin `lead` after the run's first call, `gap` after the
  // piece before it. False, and nothing is added, where the row has no place for another point.
  bool add(Ns lead, Ns gap, Ns dur) {
    // What is below the hull stays there: later pieces lengthen all rests alike.
    u8 kept = row_.points;
    if (kept > 0 && row_.hull[kept - 1u].lead >= lead) {
      extend(gap, dur);
      return true;
    }
    const HullPoint point = {lead, -(row_.gap + gap + row_.device)};
    while (kept > 1 && is_below(row_.hull[kept - 2u], row_.hull[kept - 1u], point)) --kept;
    if (kept == kHullPoints) return false;
    row_.hull[kept] = point;
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
  static void finish(SkeletonRow& row) {
    for (size_t i = 0; i < kHullPoints; ++i)
      row.hull[i] =
          i < row.points ? HullPoint{row.hull[i].lead, row.hull[i].rest + row.gap + row.device} : HullPoint();
  }

 private:
  static bool is_below(const HullPoint& a, const HullPoint& b, const HullPoint& c) {
    return i128{b.lead - a.lead} * (c.rest - a.rest) >= i128{c.lead - a.lead} * (b.rest - a.rest);
  }

  SkeletonRow& row_;
};

}  // namespace spotter::analyze
