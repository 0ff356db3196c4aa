#include "export/critical_path_flows.h"

#include <fmt/format.h>

#include "analyze/critical_path/path_finder.h"
#include "trace/category.h"

namespace spotter::export_ {
namespace {

constexpr const char* kName = "critical path";

ExtraFlow arrow(EventId from, bool from_end, EventId to, bool to_end, i64 step, std::string_view why) {
  return {from,
          from_end,
          to,
          to_end,
          kName,
          kName,
          fmt::format(R"({{"step": {}, "bound by": "{}"}})", step, why)};
}

void append(const Trace& trace, const analyze::CriticalPath& path, std::vector<ExtraFlow>& flows) {
  EventId last = kNone;  // the span that the path was in
  const auto is_device = [&](EventId e) { return is_device_work(trace.category(e)); };
  for (const analyze::PathPiece& piece : path.pieces) {
    const std::string_view bound = analyze::bound_name(piece.bound);
    if (piece.to != kNone) {
      if (piece.event != kNone) {
        const bool is_launch = piece.bound == analyze::BoundBy::launches;
        const bool is_sync = piece.bound == analyze::BoundBy::synchronization;
        flows.push_back(arrow(piece.event, !is_launch, piece.to, is_sync, path.step, bound));
      }
      last = piece.to;
      continue;
    }
    if (piece.event == kNone) continue;
    const bool is_jump = last != kNone && last != piece.event &&
                         (trace.track[last] != trace.track[piece.event] || is_device(piece.event));
    if (is_jump) flows.push_back(arrow(last, true, piece.event, false, path.step, bound));
    last = piece.event;
  }
}

}  // namespace

std::vector<ExtraFlow> critical_path_flows(const Trace& trace) {
  std::vector<ExtraFlow> flows;
  analyze::WhatIf nothing;
  analyze::for_each_critical_path(trace, nothing,
                                  [&](const analyze::CriticalPath& path) { append(trace, path, flows); });
  return flows;
}

}  // namespace spotter::export_
