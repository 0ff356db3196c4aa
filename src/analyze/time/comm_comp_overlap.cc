#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/time/device_time.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"communication_ns", Type::integer, Unit::ns, Role::value, "Time in which communication kernels run."},
    {"compute_and_communication_ns", Type::integer, Unit::ns, Role::value,
     "Part of it in which compute kernels run too."},
    {"ratio", Type::real, Unit::ratio, Role::value,
     "compute_and_communication_ns / communication_ns; null without communication."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kCommCompOverlap.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) {
    note_no_device_work(table);
    return table;
  }
  const DeviceTime time = device_time(trace.device_work());
  const Ns communication = time.of(trace::WorkKind::communication);
  const size_t both = kind_bit(trace::WorkKind::compute) | kind_bit(trace::WorkKind::communication);
  const Ns overlap = time.by_kinds[both] + time.by_kinds[both | kind_bit(trace::WorkKind::memory)];
  table.append({communication, overlap, ratio(overlap, communication)});
  return table;
}

}  // namespace

const Analysis kCommCompOverlap = {
    .name = "comm_comp_overlap",
    .summary = "How much of the communication time is hidden behind compute, per rank.",
    .doc =
        "Over all devices and streams of a rank. communication is the time in which at least one "
        "communication kernel runs, compute_and_communication the part of it in which at least one compute "
        "kernel runs as well, and ratio their quotient: 1 where all communication is hidden, 0 where none "
        "is, null where there is no communication. Definition after Holistic Trace Analysis. A rank without "
        "device work has no row.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
