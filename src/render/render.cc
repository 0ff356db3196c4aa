#include "render/render.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace spotter::render {

Result<void> check_takes(const Format& format, std::span<const Table> tables, std::string_view choice) {
  const std::string hint = choice.empty() ? "" : fmt::format("; choose one with {}", choice);
  for (const Table& table : tables) {
    if (format.takes && !format.takes(table))
      return fail(Code::invalid, "the format {} cannot show the table {}: it is {}{}", format.name,
                  table.name(), format.help, hint);
  }
  if (tables.size() <= format.most_tables) return {};
  std::vector<std::string_view> names;
  for (const Table& table : tables) names.push_back(table.name());
  return fail(Code::invalid, "the format {} cannot show {} tables ({}): it is {}{}", format.name,
              tables.size(), fmt::join(names, ", "), format.help, hint);
}

Result<void> check_rows(const Format& format, const Document& document, std::string_view choice) {
  const auto has_rows = [](const Table& table) { return table.rows() > 0; };
  if (!format.needs_rows || std::ranges::any_of(document.tables, has_rows)) return {};
  std::vector<std::string> tables, notes;
  for (const Table& table : document.tables) tables.push_back(table.name());
  Notes reasons;
  for (const Note& note : document.notes.all())
    if (note.severity == Severity::loss) reasons.add(note);
  reasons = all_notes(document.tables, reasons);
  for (const Note& note : reasons.all()) notes.push_back(to_text(note));
  return fail(
      Code::not_found,
      "there is nothing to draw, {} {} no rows{}{}; choose another table{}, or another part of the job",
      fmt::join(tables, ", "), tables.size() == 1 ? "has" : "have", notes.empty() ? "" : ": ",
      fmt::join(notes, "; "), choice.empty() ? "" : fmt::format(" with {}", choice));
}

std::string render(const Format& format, const Document& document, const TextStyle& style) {
  return format.render({document.tables, all_notes(document.tables, document.notes), document.members},
                       style);
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
