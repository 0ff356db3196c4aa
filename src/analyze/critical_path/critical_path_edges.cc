#include "analyze/critical_path/path_finder.h"
#include "analyze/list.h"
#include "analyze/time/device_time.h"
#include "base/saturated.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"step", Type::integer, Unit::none, Role::key, "Number of the step; 0 for a trace without steps."},
    {"start_ns", Type::integer, Unit::ns, Role::time,
     "Start of the piece, Unix time; with what_if as it would be."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Duration of the piece."},
    {"bound_by", Type::text, Unit::none, Role::value, "What the time is spent on, as in critical_path."},
    {"name", Type::text, Unit::none, Role::value,
     "Name of the span or of the device work; of waiting, of where it begins; null where there is none."},
    {"event", Type::integer, Unit::none, Role::detail, "Its position in the file's traceEvents."},
    {"to_event", Type::integer, Unit::none, Role::detail,
     "Of waiting, the position of the event where it ends."},
};

constexpr Param kParams[] = {kWhatIf};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  WhatIf what_if(params.text(kWhatIf.name));
  Table table(kCriticalPathEdges.name, std::span(kColumns).subspan(1));
  const auto position = [](EventId e) { return e == kNone ? Value() : Value(static_cast<i64>(e)); };
  for_each_critical_path(trace, what_if, [&](const CriticalPath& path) {
    for (const PathPiece& piece : path.pieces)
      table.append({path.step, add_saturated(trace.info().base_ns, piece.start), piece.dur,
                    std::string_view(bound_name(piece.bound)),
                    piece.event == kNone ? Value() : Value(trace.name_of(piece.event)), position(piece.event),
                    position(piece.to)});
  });
  what_if.note_unknown_name(table);
  note_inferred_launches(trace, table);
  return table;
}

}  // namespace

const Analysis kCriticalPathEdges = {
    .name = "critical_path_edges",
    .summary = "The critical path of each step, piece by piece.",
    .doc =
        "One row per piece of a path, as critical_path defines it, by time. The pieces of a step follow each other without gap "
        "or overlap; those of steps may overlap, as their windows do. With --steps positions are those among the events of these steps.",
    .params = kParams,
    .columns = kColumns,
    .reads = kCriticalPathArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
