#include "analyze/critical_path/path_parts.h"

#include <algorithm>

#include "trace/nesting.h"

namespace spotter::analyze {

PathParts::PathParts(const Trace& trace) : trace_(trace), around_(trace.size(), StepPart::other) {
  HostParts parts(trace);
  const trace::Nesting& nesting = trace.nesting();
  for (size_t i = 0; i < nesting.order.size(); ++i) {  // parents come first
    const EventId e = nesting.order[i];
    const u32 parent = nesting.parent[i];
    const StepPart above = parent == kNone ? StepPart::other : around_[nesting.order[parent]];
    around_[e] = std::min(parts.of(e), above);
  }
}

const std::vector<PartPiece>& PathParts::divide(const CriticalPath& path, Ns start, Ns end) {
  pieces_.clear();
  at_ = start;
  end_ = end;
  for (const PathPiece& piece : path.pieces) {
    if (piece.start > at_) add(StepPart::other, piece.start);
    add(piece);
  }
  add(StepPart::other, end);
  return pieces_;
}

void PathParts::add(const PathPiece& piece) {
  const Ns end = piece.start + piece.dur;
  switch (piece.bound) {
    case BoundBy::compute:
      return add(part_of_device_work(trace_.category(piece.event), trace::WorkKind::compute), end);
    case BoundBy::communication:
      return add(part_of_device_work(trace_.category(piece.event), trace::WorkKind::communication), end);
    case BoundBy::memory:
      return add(part_of_device_work(trace_.category(piece.event), trace::WorkKind::memory), end);
    case BoundBy::host_operators:
    case BoundBy::host_gaps:
    case BoundBy::data_loading:
      return add(piece.event == kNone ? StepPart::other : around_[piece.event], end);
    case BoundBy::launches:
      add(around_[piece.event], std::min(trace_.end(piece.event), end));
      return add(StepPart::other, end, true);
    case BoundBy::kernel_gaps:
      return add(StepPart::other, end, true);
    case BoundBy::synchronization:
      return add(around_[piece.to], end);
    case BoundBy::unknown:
    case BoundBy::count_:
      return add(StepPart::other, end);
  }
}

void PathParts::add(StepPart part, Ns end, bool is_latency) {
  const PartPiece piece = {at_, std::min(end, end_), part, is_latency};
  if (piece.end <= at_) return;
  at_ = piece.end;
  if (!pieces_.empty() && pieces_.back().is_like(piece))
    pieces_.back().end = piece.end;
  else
    pieces_.push_back(piece);
}

}  // namespace spotter::analyze
