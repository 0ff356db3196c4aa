// Any bytes: where the text is cut and where events seem to begin and end stays inside the text.
#include "base/result.h"
#include "read/boundary.h"
#include "read/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spotter;
  const char* begin = reinterpret_cast<const char*>(data);
  const char* end = begin + size;
  if (const char* cut = read::last_boundary(begin, end)) {
    CHECK(cut > begin && cut < end && cut[-1] == '}');
    CHECK(read::next_event(cut, end) < end);
  }
  for (const char* p = read::next_event(begin, end); p < end; p = read::next_event(p + 1, end))
    CHECK(*p == '{');
  for (const bool final : {false, true}) {
    if (const char* rest = read::events_end(begin, end, final)) CHECK(rest >= begin && rest <= end);
    if (const char* rest = read::find_events_end(begin, end, end, final)) CHECK(rest > begin && rest <= end);
  }
  const read::json::Scan value = read::json::scan_value(begin, end);
  CHECK(value.stop >= begin && value.stop <= end);
  bool damaged = false, inexact = false;
  const std::string_view text(begin, size);
  for (const read::json::Member& m : read::json::members(text, &damaged)) CHECK(m.raw.size() <= size);
  read::json::unescape(text);
  read::json::microseconds_to_ns(text, inexact);
  return 0;
}
