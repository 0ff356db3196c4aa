// Incidents and conditions of any bytes (src/wire/incident): refused, or kept: what is written of them reads
// back, and is written the same again.
#include "wire/incident.h"

#include <cstdlib>
#include <vector>

#include "wire/incident_table.h"

using namespace spotter;

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto incident = wire::read_incident(bytes)) {
    const std::string text = wire::incident_text(*incident);
    const auto again = wire::read_incident(text);
    expect(again.has_value() && wire::incident_text(*again) == text);
    expect(wire::incidents_table(std::vector{*again}).rows() == 1);
  }
  if (const auto condition = wire::read_condition(bytes)) {
    const std::string text = wire::condition_text(*condition);
    const auto again = wire::read_condition(text);
    expect(again.has_value() && wire::condition_text(*again) == text);
    expect(respond::fingerprint(*again) == respond::fingerprint(*condition));
  }
  return 0;
}
