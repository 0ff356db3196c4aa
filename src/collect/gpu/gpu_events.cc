#include "collect/gpu/gpu_events.h"

#include "collect/gpu/owner.h"
#include "collect/values.h"

namespace spotter::collect {

Table GpuEvents::take(Ns unix_ns) {
  Table table("gpu_event", gpu_event::kFields);
  for (const GpuEvent& event : events_) {
    Row row(gpu_event::kColumnCount);
    row[gpu_event::time_ns] = unix_ns;
    row[gpu_event::gpu] = event.gpu;
    row[gpu_event::event] = std::string_view(event.event);
    row[gpu_event::uuid] = or_null(event.uuid);
    row[gpu_event::instance] = or_null(event.instance);
    row[gpu_event::job] = or_null(event.owner.job);
    row[gpu_event::rank] = or_null(event.owner.rank);
    row[gpu_event::user] = or_null(event.owner.user);
    row[gpu_event::xid] = or_null(event.xid);
    row[gpu_event::count] = or_null(event.count);
    row[gpu_event::severity] = or_null(event.severity);
    row[gpu_event::meaning] = or_null(event.meaning);
    table.append(row);
  }
  events_.clear();
  return table;
}

void note_lost_gpus(Table& table, i64 lost, size_t all) {
  if (lost > 0)
    table.notes.add(kDoesNotAnswer, Severity::loss, fmt::format("of {} GPUs do not answer", all), -1, lost);
}

void MemoryErrors::compare(const Counts& now, const GpuEvent& about, GpuEvents& events) {
  constexpr struct {
    const char* event;
    const char* severity;
    const char* meaning;
  } kKind[kKinds] = {
      {"ecc_corrected", "info", "memory errors that were corrected"},
      {"ecc_uncorrected", "critical",
       "memory errors that could not be corrected: results may be wrong, processes may end"},
      {"row_remapped", "error", "memory rows were replaced, from the next reset on"},
      {"page_retired", "error", "memory pages are used no more, from the next load of the driver on"},
  };
  for (size_t i = 0; i < kKinds; ++i) {
    if (last_[i] && now[i] && *now[i] > *last_[i]) {
      GpuEvent event = about;
      event.event = kKind[i].event;
      event.severity = kKind[i].severity;
      event.meaning = kKind[i].meaning;
      event.count = *now[i] - *last_[i];
      events.add(std::move(event));
    }
    if (now[i]) last_[i] = now[i];
  }
}

}  // namespace spotter::collect
