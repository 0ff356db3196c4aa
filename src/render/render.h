// Table -> bytes. One dispatch for every output format; a new format is one file here and one line in
// render.cc. Rendering reads only; it may run on any thread.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "table/table.h"

namespace spotter {

enum class Format : u8 { text, json, csv };

Result<Format> parse_format(std::string_view word);

struct TextStyle {
  int width = 0;       // columns of the terminal; 0: no limit (a pipe)
  bool color = false;  // ANSI colours
};

// Text: aligned, humanised (1.23 ms, 4.2 GiB, 12.3 %), notes at the foot. Where the terminal is too narrow,
// long texts lose their middle and then the last value columns are left out, which a line says. JSON:
// {"tables":[{"name","columns":[{"name","type","unit","help"}],"rows":[[...]]}],"notes":[{"kind","severity",
// "count","position","scope","scopes","sentence"}]}, raw numbers.
// CSV: RFC 4180, a header line per table, no notes; several tables are separated by an empty line and begin
// with
// "# name".
// `notes` are those of the run; the tables' own are shown with them, and what several tables note alike only
// once.
std::string render(Format format, std::span<const Table> tables, const Notes& notes,
                   const TextStyle& style = {});

// The notes of a run and of its tables, each once: analyses of one trace often note the same.
Notes all_notes(std::span<const Table> tables, const Notes& notes);

// Pieces that a hand-laid report uses.
std::string render_text_table(const Table& table, const TextStyle& style);
std::string render_text_notes(const Notes& notes, const TextStyle& style);
std::string human(const Value& value, Unit unit, Role role);  // one cell as a person reads it
std::string human_ns(Ns ns);                                  // "1.23 ms"

}  // namespace spotter
