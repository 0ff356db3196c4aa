// Flight recorder dumps of any bytes (src/read/flight_recorder), as pickles and as JSON: refused, or read to
// the same end each time; and what they tell is compared (src/analyze/flight_recorder) with a second rank
// that has the same calls, or half of them.
#include "read/flight_recorder/flight_recorder.h"

#include <cstdlib>

#include "analyze/flight_recorder/group_findings.h"
#include "read/plain_data/json_data.h"
#include "read/plain_data/pickle.h"

using namespace spotter;

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

void compare(FlightRecord record) {
  analyze::ProcessGroups groups;
  groups.add(record);
  ++record.file.rank;
  groups.add(record);
  ++record.file.rank;
  record.calls.resize(record.calls.size() / 2);
  groups.add(record);
  const std::vector<analyze::GroupFinding> findings = analyze::group_findings(groups);
  expect(analyze::flight_recorder(groups, findings).rows() == findings.size());
  analyze::flight_recorder_ranks(groups);
  analyze::first_to_look_at(findings);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const Result<read::PlainData> plain =
      read::begins_like_pickle(bytes) ? read::parse_pickle(bytes) : read::parse_json_data(bytes);
  if (!plain) return 0;
  expect(plain->bytes_used() <= size && plain->size() == size);
  if (Result<FlightRecord> record = read::to_flight_record(*plain)) compare(std::move(*record));
  return 0;
}
