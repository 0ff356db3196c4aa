#include "wire/notes_json.h"

#include "wire/json.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;

constexpr size_t kMostNotes = 10'000;     // to merge them is quadratic
constexpr i64 kMostCount = i64{1} << 53;  // so that sums stay in range

i64 count_in(const json::value& value) {
  const i64 count = value.as_int64();
  expect(0 <= count && count <= kMostCount, "a note's count");
  return count;
}

}  // namespace

json::array json_of(const Notes& notes) {
  json::array all;
  for (const Note& note : notes.all())
    all.push_back(json::object{{"kind", mended(note.kind)},
                               {"severity", severity_name(note.severity)},
                               {"count", note.count},
                               {"position", note.position},
                               {"scope", mended(note.scope)},
                               {"scopes", note.scopes},
                               {"sentence", mended(note.sentence)}});
  return all;
}

Notes notes_in(const json::value& list, size_t& count) {
  Notes all;
  for (const json::value& entry : list.as_array()) {
    expect(++count <= kMostNotes, "fewer notes");
    const json::object& note = entry.as_object();
    all.add(Note{.kind = std::string(text_in(note.at("kind"))),
                 .severity = severity_in(note.at("severity")),
                 .count = count_in(note.at("count")),
                 .position = note.at("position").as_int64(),
                 .scope = std::string(text_in(note.at("scope"))),
                 .scopes = count_in(note.at("scopes")),
                 .sentence = std::string(text_in(note.at("sentence")))});
  }
  return all;
}

}  // namespace spotter::wire
