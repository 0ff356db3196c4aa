#include "render/render.h"

#include <algorithm>
#include <vector>

#include "render/formats.h"

namespace spotter::render {
namespace {

constexpr Format kFormats[] = {
    {"text", "for people, with units", true, nullptr, render_text},
    {"json", "raw nanoseconds, one document with the notes", true, nullptr, render_json},
    {"csv", "raw nanoseconds, the notes on standard error", false, nullptr, render_csv},
    {"svg", "a picture of a table of spans, such as timeline, steps and critical_path_edges", false, is_drawn,
     render_svg},
};

}  // namespace

std::span<const Format> all_formats() { return kFormats; }

const Format* find_format(std::string_view name) {
  const auto* it = std::ranges::find(kFormats, name, &Format::name);
  return it == std::end(kFormats) ? nullptr : it;
}

Result<void> check_takes(const Format& format, const Table& table) {
  if (!format.takes || format.takes(table)) return {};
  return fail(Code::invalid, "the format {} cannot show the table {}: it is {}; choose one with --table",
              format.name, table.name(), format.help);
}

std::string render(const Format& format, std::span<const Table> tables, const Notes& notes,
                   const TextStyle& style) {
  return format.render(tables, all_notes(tables, notes), style);
}

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

}  // namespace spotter::render
