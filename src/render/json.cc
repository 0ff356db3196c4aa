// JSON: raw values, one row a line. Integers keep all their digits, also beyond 2^53.
// {"tables":[{"name","columns":[{"name","type","unit","role","help"}],"rows":[[...]]}],
// "notes":[{"kind","severity","count","position","scope","scopes","sentence"}]}, and the members of the
// document
#include "render/json_text.h"
#include "render/list.h"

namespace spotter::render {
namespace {

// "key":value, with the comma before it that all members but an object's first need.
void append_member(std::string& out, std::string_view key, const Value& value) {
  if (out.back() != '{') out += ',';
  append_json_text(out, key);
  out += ':';
  append_json_value(out, value);
}

// Items in brackets, each on a line of its own.
template <class Item>
void append_list(std::string& out, size_t count, Item&& append_item) {
  out += '[';
  for (size_t i = 0; i < count; ++i) {
    out += i == 0 ? "\n" : ",\n";
    append_item(i);
  }
  out += ']';
}

void append_table(std::string& out, const Table& table) {
  out += '{';
  append_member(out, "name", table.name());
  out += ",\"columns\":";
  append_list(out, table.columns(), [&](size_t i) {
    const Field& field = table.schema()[i];
    out += '{';
    append_member(out, "name", field.name);
    append_member(out, "type", type_name(field.type));
    append_member(out, "unit", unit_name(field.unit));
    append_member(out, "role", role_name(field.role));
    append_member(out, "help", field.help);
    out += '}';
  });
  out += ",\"rows\":";
  append_list(out, table.rows(), [&](size_t row) {
    out += '[';
    for (size_t c = 0; c < table.columns(); ++c) {
      if (c > 0) out += ',';
      append_json_value(out, table.at(row, c));
    }
    out += ']';
  });
  out += '}';
}

void append_note(std::string& out, const Note& note) {
  out += '{';
  append_member(out, "kind", note.kind);
  append_member(out, "severity", severity_name(note.severity));
  append_member(out, "count", note.count);
  append_member(out, "position", note.position < 0 ? Value() : Value(note.position));
  append_member(out, "scope", note.scope);
  append_member(out, "scopes", note.scopes);
  append_member(out, "sentence", note.sentence);
  out += '}';
}

std::string render_json(const Document& document, const TextStyle&) {
  std::string out = "{\"tables\":";
  append_list(out, document.tables.size(), [&](size_t i) { append_table(out, document.tables[i]); });
  out += ",\n\"notes\":";
  append_json_notes(out, document.notes);
  for (const Member& member : document.members) append_member(out, member.name, member.value);
  return out + "}\n";
}

}  // namespace

void append_json_notes(std::string& out, const Notes& notes) {
  append_list(out, notes.all().size(), [&](size_t i) { append_note(out, notes.all()[i]); });
}

const Format kJson = {.name = "json",
                      .help = "raw nanoseconds, one document with the notes",
                      .ending = ".json",
                      .render = render_json,
                      .shows_notes = true};

}  // namespace spotter::render
