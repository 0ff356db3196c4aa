// The token level of JSON (src/read/json.h): no call reads outside its text, and what the calls say fits
// together.
#include "read/json.h"

#include <cstdlib>
#include <memory>

using namespace spotter;

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

void check_scan(const read::json::Scan& s, std::string_view text) {
  expect(s.stop >= text.data() && s.stop <= text.data() + text.size());
  expect(s.state != read::json::State::ok || s.stop > text.data());
  expect(s.state != read::json::State::incomplete || s.stop == text.data() + text.size());
}

// Each member lies in the text, and is as long as it says when it is scanned again.
void check_members(std::string_view text) {
  bool damaged = false;
  for (const read::json::Member& m : read::json::members(text, &damaged)) {
    if (m.raw.empty()) continue;
    expect(m.raw.data() >= text.data() && m.raw.data() + m.raw.size() <= text.data() + text.size());
    const read::json::Scan again = read::json::scan_value(m.raw.data(), m.raw.data() + m.raw.size());
    expect(again.state == read::json::State::ok && again.stop == m.raw.data() + m.raw.size());
    read::json::text_of(m.raw);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy of just this size, so that reading past it is seen.
  const std::unique_ptr<char[]> copy(new char[size]);
  for (size_t i = 0; i < size; i++) copy[i] = static_cast<char>(data[i]);
  const std::string_view text(copy.get(), size);
  const char *begin = text.data(), *end = begin + size;

  check_scan(read::json::scan_string(begin, end), text);
  check_scan(read::json::scan_value(begin, end), text);
  expect(read::json::scan_word(begin, end).data() == begin);
  check_members(text);
  expect(read::json::unescape(text).size() <= 3 * size);
  bool inexact = false;
  const std::optional<i64> ns = read::json::microseconds_to_ns(text, inexact);
  const std::optional<i64> integer = read::json::to_integer(text);
  // A whole number of microseconds is a thousand times as many ns.
  const i64 most = INT64_MAX / 1000;
  if (integer && *integer <= most && *integer >= -most) expect(ns == *integer * 1000 && !inexact);
  return 0;
}
