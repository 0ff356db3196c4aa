#include "render/render.h"

#include <algorithm>
#include <vector>

#include "render/formats.h"

namespace spotter {
namespace {

std::string render_text(std::span<const Table> tables, const Notes& notes, const TextStyle& style) {
  std::string out;
  for (const Table& table : tables) {
    if (!out.empty()) out += '\n';
    if (tables.size() > 1) out += fmt::format("{}:\n", table.name());
    out += render_text_table(table, style);
  }
  if (!out.empty() && !notes.empty()) out += '\n';
  return out + render_text_notes(notes, style);
}

}  // namespace

Notes all_notes(std::span<const Table> tables, const Notes& notes) {
  Notes all = notes;
  std::vector<Note> seen(notes.all().begin(), notes.all().end());
  for (const Table& table : tables) {
    for (const Note& note : table.notes.all()) {
      if (std::ranges::find(seen, note) != seen.end()) continue;
      seen.push_back(note);
      all.add(note);
    }
  }
  return all;
}

Result<Format> parse_format(std::string_view word) {
  if (word == "text") return Format::text;
  if (word == "json") return Format::json;
  if (word == "csv") return Format::csv;
  return fail(Code::invalid, "there is no output format '{}'; there are text, json and csv", word);
}

std::string render(Format format, std::span<const Table> tables, const Notes& notes, const TextStyle& style) {
  const Notes all = all_notes(tables, notes);
  switch (format) {
    case Format::text:
      return render_text(tables, all, style);
    case Format::json:
      return render_json(tables, all);
    case Format::csv:
      return render_csv(tables);
  }
  return {};
}

}  // namespace spotter
