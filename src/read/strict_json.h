// Strict JSON (RFC 8259) for what is passed on to other programs, which forgive less than our reader does:
// finding out whether a text is such, and writing what is not so that it is.
#pragma once
#include <string>
#include <string_view>

namespace spotter::read::json {

// Where the values of an event's own members stand in its text; empty where it has none. Of a member that
// occurs twice the last.
struct EventMembers {
  std::string_view pid, tid, ts, id;
};

// Whether the text is one object of strict JSON in valid UTF-8, without escapes in the keys of its own
// members; finds its members in passing. Brackets deeper than 1000 are not taken.
bool find_members(std::string_view text, EventMembers& members);

bool is_strict(std::string_view value);

// Any value that our reader takes, as strict JSON with the same meaning: what has no spelling there (NaN,
// Infinity) becomes text, a missing value null. Empty where the text is no whole value.
std::string to_strict(std::string_view value);

// The text in quotes, with escapes; it must be valid UTF-8.
std::string quoted(std::string_view text);

}  // namespace spotter::read::json
