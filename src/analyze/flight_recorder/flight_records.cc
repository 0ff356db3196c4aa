#include "analyze/flight_recorder/flight_records.h"

#include "base/system/file.h"

namespace spotter::analyze {

FlightRecords read_flight_records(std::span<const FlightRecordFile> files, const FlightRecordLoader& load) {
  FlightRecords all;
  for (const FlightRecordFile& file : files) {
    const Result<FlightRecord> record = load(file);
    if (!record) {
      all.notes.add("dump_left_out", Severity::loss,
                    fmt::format("the dump of a flight recorder could not be read and was left out: {}",
                                record.error().message));
      continue;
    }
    all.groups.add(*record);
    all.notes.merge(record->notes, base_name(file.path));
    ++all.count;
  }
  all.findings = group_findings(all.groups);
  all.notes.merge(all.groups.notes());
  return all;
}

}  // namespace spotter::analyze
