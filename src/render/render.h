// Document -> bytes. One list of output formats (list.h); a new one is one file here and one line there.
// Rendering reads only; it may run on any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "render/document.h"
#include "render/source_links.h"

namespace spotter::render {

struct TextStyle {
  int width = 0;       // columns of the terminal; 0: no limit (a pipe)
  bool color = false;  // ANSI colours
  // What positions in time are shown relative to, the start of the job; none: as they are, Unix time. For
  // people: formats for programs always have them as they are.
  std::optional<Ns> time_zero = {};
  SourceLinks source_links = {};  // of a terminal that follows links
};

// An output format.
struct Format {
  const char* name;
  const char* help;
  const char* ending;  // of the names of its files: ".csv"; no two formats have the same
  // The document's notes are those of the run and of all tables.
  std::string (*render)(const Document& document, const TextStyle& style);
  bool shows_notes = false;  // false: nobody sees them in its bytes; who writes these says them elsewhere
  bool is_binary = false;    // nothing for a terminal
  size_t most_tables = SIZE_MAX;
  bool needs_rows = false;                      // without any there is nothing to see
  bool (*takes)(const Table& table) = nullptr;  // whether it can show this table; nullptr: all
};

// Errors: invalid (a format that cannot show these tables). `choice` is the option that chooses among the
// tables, as the error says; empty: there is none.
Result<void> check_takes(const Format& format, std::span<const Table> tables, std::string_view choice);

// Errors: not_found (the format needs rows, and no table has any), with what is noted of them and what was
// lost. `choice`: as above.
Result<void> check_rows(const Format& format, const Document& document, std::string_view choice);

// What the run and several tables note alike is shown once.
std::string render(const Format& format, const Document& document, const TextStyle& style = {});

// The notes of a run and of its tables, each once: analyses of one trace often note the same.
Notes all_notes(std::span<const Table> tables, const Notes& notes);

// Pieces that a hand-laid report uses.
std::string render_text_table(const Table& table, const TextStyle& style);
std::string render_text_notes(const Notes& notes, const TextStyle& style);
std::string human(const Value& value, Unit unit, Role role);  // one cell as a person reads it
std::string human_ns(Ns ns);                                  // "1.23 ms"
Value shown_time(const Value& value, const Field& field, const TextStyle& style);  // what a person is shown
std::string bold(const std::string& text, const TextStyle& style);

// A kernel's name in a sentence: printable, without what tells nothing, its middle left out beyond `cells`.
std::string short_name(std::string_view name, int cells);

// Sentences broken at blanks, with `indent` before every line but the first; a word is never broken, nor a
// number from its unit. Width 0: no limit.
std::string wrapped(const std::string& text, int width, const std::string& indent = {});

// Words with their meanings, each on a line of its own; meanings are wrapped beside the words.
std::string render_meanings(std::span<const std::pair<std::string, std::string>> meanings, int width);

}  // namespace spotter::render
