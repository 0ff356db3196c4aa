#include "base/notes.h"

#include <fmt/format.h>

#include <algorithm>

namespace spotter {
namespace {

// -1 means "does not apply" and so loses against any position.
i64 first_position(i64 a, i64 b) {
  if (a < 0) return b;
  if (b < 0) return a;
  return std::min(a, b);
}

Note* find_equal(std::vector<Note>& notes, std::string_view kind, Severity severity,
                 std::string_view sentence) {
  for (Note& note : notes)
    if (note.kind == kind && note.severity == severity && note.sentence == sentence) return &note;
  return nullptr;
}

// Keeps the order that all() promises.
void insert(std::vector<Note>& notes, Note note) {
  const auto less_severe = [&](const Note& other) { return other.severity < note.severity; };
  notes.insert(std::find_if(notes.begin(), notes.end(), less_severe), std::move(note));
}

// A note of the whole run (no scope) covers those of single files; a position makes sense only beside its own
// scope.
void add_scope(Note& into, const Note& from) {
  if (into.scope == from.scope) {
    into.position = first_position(into.position, from.position);
    into.scopes = std::max(into.scopes, from.scopes);
  } else if (from.scope.empty()) {
    into.scope.clear();
    into.position = from.position;
    into.scopes = 1;
  } else if (!into.scope.empty()) {
    into.scopes += from.scopes;
  }
}

// "events were left out", not "the gzip data is damaged": a sentence that a count may precede.
bool counts_things(std::string_view sentence) {
  return !sentence.starts_with("the ") && !sentence.starts_with("a ") && !sentence.starts_with("an ");
}

}  // namespace

const char* severity_name(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::repair:
      return "repair";
    case Severity::loss:
      return "loss";
  }
  return "unknown";
}

void Notes::add(std::string_view kind, Severity severity, std::string_view sentence, i64 position,
                i64 count) {
  if (Note* note = find_equal(notes_, kind, severity, sentence)) {
    note->count += count;
    note->position = first_position(note->position, position);
    return;
  }
  insert(notes_, {.kind = std::string(kind),
                  .severity = severity,
                  .count = count,
                  .position = position,
                  .scope = {},
                  .scopes = 1,
                  .sentence = std::string(sentence)});
}

void Notes::add(Note note) {
  if (Note* mine = find_equal(notes_, note.kind, note.severity, note.sentence)) {
    mine->count += note.count;
    add_scope(*mine, note);
  } else {
    insert(notes_, std::move(note));
  }
}

void Notes::merge(const Notes& other, std::string_view scope) {
  for (Note note : std::vector<Note>(other.notes_)) {  // a copy: `other` may be this object
    if (note.scope.empty()) note.scope = scope;
    add(std::move(note));
  }
}

i64 Notes::count(std::string_view kind) const {
  i64 sum = 0;
  for (const Note& note : notes_)
    if (note.kind == kind) sum += note.count;
  return sum;
}

std::string to_text(const Note& note) {
  const bool is_plural = counts_things(note.sentence);
  std::vector<std::string> details;
  if (note.count == 1 && is_plural && note.severity != Severity::info) details.push_back("once");
  if (note.count > 1 && !is_plural) details.push_back(fmt::format("{} times", note.count));
  if (note.position >= 0)
    details.push_back(fmt::format("{}at byte {}", note.count > 1 ? "first " : "", note.position));
  if (!note.scope.empty())
    details.push_back(note.scopes > 1 ? fmt::format("in {} and {} more", note.scope, note.scopes - 1)
                                      : fmt::format("in {}", note.scope));

  std::string text =
      note.count > 1 && is_plural ? fmt::format("{} {}", note.count, note.sentence) : note.sentence;
  if (!details.empty()) text += fmt::format(" ({})", fmt::join(details, ", "));
  return text;
}

}  // namespace spotter
