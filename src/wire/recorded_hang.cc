#include "wire/recorded_hang.h"

#include <algorithm>

#include "base/text/utf8.h"
#include "respond/rules/columns.h"
#include "wire/read_tables.h"

namespace spotter::wire {
namespace {

constexpr Field kColumns[] = {
    {"rank", Type::integer, Unit::none, Role::key, "Rank that does not arrive."},
    {"what", Type::text, Unit::none, Role::detail, "What it does, or does not."},
    {"has_no_dump", Type::flag, Unit::none, Role::detail, "Whether there is no dump of it."},
};
constexpr const char* kNames[] = {"rank", "what", "has_no_dump"};
constexpr size_t kMostText = 400;

}  // namespace

Table recorded_hang_table() { return Table("recorded_hang", kColumns); }

Result<RecordedHangAnswer> read_recorded_hang(const std::string& text) {
  TRY_ASSIGN(const TablesAnswer tables, read_tables(text));
  if (tables.tables.size() != 1) return fail(Code::corrupt, "there is no table of a hang");
  RecordedHangAnswer answer;
  respond::Columns columns(kNames);
  columns.find(tables.tables[0]);
  for (size_t row = 0; row < tables.tables[0].rows(); ++row) {
    const auto rank = columns.integer(row, 0);
    if (!rank) return fail(Code::corrupt, "a rank of a hang has no number");
    if (!answer.hang)
      answer.hang = {.ranks = {},
                     .what = to_valid_utf8(to_printable(columns.text(row, 1)).substr(0, kMostText)),
                     .has_no_dump = columns.flag(row, 2).value_or(false)};
    answer.hang->ranks.push_back(*rank);
  }
  for (const Note& note : tables.notes.all()) {
    if (note.severity == Severity::loss && answer.loss.empty()) answer.loss = to_printable(to_text(note));
  }
  return answer;
}

}  // namespace spotter::wire
