// Critical paths: of each step, the work that its end waited for, one piece after the other.
//
// The window of a step begins with its mark and ends with the mark or with the last device work that was
// launched in it, whichever is later. The pieces of a path follow each other without gap or overlap from the
// window's start to its end (path_graph.h), so that a path is as long as its window.
#pragma once
#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "analyze/critical_path/path_graph.h"
#include "trace/steps.h"

namespace spotter::analyze {

// What the time of a piece is spent on.
enum class BoundBy : u8 {
  compute,
  communication,
  host_operators,
  host_gaps,
  data_loading,
  memory,
  kernel_gaps,
  launches,
  synchronization,
  unknown,
  count_  // not one
};
inline constexpr auto kBounds = static_cast<size_t>(BoundBy::count_);
const char* bound_name(BoundBy bound);

struct PathPiece {
  Ns start, dur;  // as they would be, where there is a what-if
  BoundBy bound;
  EventId event;       // whose time it is; of waiting, where it begins. kNone: no span, the window's start
  EventId to = kNone;  // of waiting, where it ends
};

struct CriticalPath {
  i64 step = 0;
  Ns start = 0, length = 0;  // the window
  Ns what_if_length = 0;     // of the pieces: the same without a what-if
  // Windows overlap where device work runs on into the next step. The path from its start to here lies in
  // windows of earlier steps, as they are or would be; so what comes after it may be added up over the steps.
  Ns own_start = 0;
  std::vector<PathPiece> pieces;

  Ns overlap() const { return own_start - start; }
  Ns own_part(const PathPiece& piece) const {
    return std::max<Ns>(0, std::min(piece.dur, piece.start + piece.dur - own_start));
  }
};

// Finds the path of each step, by start; of a trace without steps one of all of it, as step 0; none where the
// trace has no spans. `use` is called with each path, which is gone afterwards: paths of a trace together may
// be as large as the trace. Reads kCriticalPathArgs.
void for_each_critical_path(const Trace& trace, WhatIf& what_if,
                            const std::function<void(const CriticalPath& path)>& use);
// Of these windows, which come by start and are not empty.
void for_each_critical_path(const Trace& trace, std::span<const PathWindow> windows, WhatIf& what_if,
                            const std::function<void(const CriticalPath& path)>& use);

inline const ArgSet kCriticalPathArgs = kDependencyArgs | trace::kStepArgs | ArgSet{Arg::fwd_thread_id};

}  // namespace spotter::analyze
