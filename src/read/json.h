// Tolerant reading of JSON text at the level of tokens: what the event scanner falls back on, and what the
// few members outside the events are read with. Accepts what real writers emit wrongly: control characters
// and lone backslashes in strings, NaN and Infinity, missing values, trailing commas. No function reads at or
// beyond `end`.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace spotter::read::json {

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

inline const char* skip_space(const char* p, const char* end) {
  while (p < end && is_space(*p)) ++p;
  return p;
}

// Where a token ends. `stop` is behind it if ok; incomplete: the text ended first; bad: no such token here.
enum class State : u8 { ok, incomplete, bad };
struct Scan {
  State state = State::bad;
  const char* stop = nullptr;
};

struct StringScan : Scan {
  bool escaped = false;  // has a backslash
};

StringScan scan_string(const char* p, const char* end);  // p at the opening quote
Scan scan_value(const char* p, const char* end);         // any value; brackets must match in kind
// A bare word: a number, true, null, NaN, -Infinity ... Empty if there is none at p.
std::string_view scan_word(const char* p, const char* end);

// The text between the quotes, with escapes resolved. Escapes that JSON does not know stay as they are.
std::string unescape(std::string_view inner);

// Decimal microseconds, as text, to nanoseconds: sign, digits, fraction, exponent. `inexact` is set if digits
// below one nanosecond were rounded away. nullopt if it is no number or does not fit.
std::optional<i64> microseconds_to_ns(std::string_view word, bool& inexact);

// An integer of 64 bits, or nullopt (fractions and exponents are not integers here).
std::optional<i64> to_integer(std::string_view word);

// One member of an object, or one element of a list (empty key). `raw` is the value's text, trimmed.
struct Member {
  std::string key;
  std::string_view raw;
};
// The members of the object or list that `raw` is; stops quietly at damage and sets `damaged`. Members beyond
// `most` are left out.
std::vector<Member> members(std::string_view raw, bool* damaged = nullptr, size_t most = SIZE_MAX);

// `raw` as text: a string unescaped, anything else as it stands.
std::string text_of(std::string_view raw);

}  // namespace spotter::read::json
