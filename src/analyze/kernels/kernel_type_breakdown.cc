#include <string>

#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/time/device_time.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"kernel_type", Type::text, Unit::none, Role::key,
     "The kinds of device work that run at the same time, joined by +."},
    {"time_ns", Type::integer, Unit::ns, Role::value, "Time in which exactly these kinds run."},
    {"ratio", Type::real, Unit::ratio, Role::value, "Share of the time in which any device work runs."},
};

// Single kinds first, then pairs, then all three.
constexpr size_t kOrder[] = {0b001, 0b010, 0b100, 0b011, 0b101, 0b110, 0b111};

std::string kinds_name(size_t kinds) {
  std::string name;
  for (size_t k = 0; k < trace::kWorkKinds; ++k) {
    const auto kind = static_cast<trace::WorkKind>(k);
    if (!(kinds & kind_bit(kind))) continue;
    if (!name.empty()) name += '+';
    name += trace::work_kind_name(kind);
  }
  return name;
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kKernelTypeBreakdown.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) {
    note_no_device_work(table);
    return table;
  }
  const DeviceTime time = device_time(trace.device_work());
  for (size_t kinds : kOrder) {
    const std::string name = kinds_name(kinds);
    table.append({name, time.by_kinds[kinds], ratio(time.by_kinds[kinds], time.busy())});
  }
  return table;
}

}  // namespace

const Analysis kKernelTypeBreakdown = {
    .name = "kernel_type_breakdown",
    .summary = "Busy device time split by the kinds of work that run at once, per rank.",
    .doc =
        "Over all devices and streams of a rank, each instant in which device work runs is put to the set "
        "of kinds that run then: compute, communication (collective arguments, or the name of a "
        "communication library's kernel), memory (copies and sets). All seven sets are listed; their times "
        "add up to the busy time, of which ratio is the share (null where nothing lasts). A rank without "
        "device work has no rows.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
