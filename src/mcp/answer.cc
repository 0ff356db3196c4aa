#include "mcp/answer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text/printable_within.h"
#include "base/time.h"
#include "mcp/cells.h"
#include "mcp/cursor.h"
#include "wire/json.h"

namespace spotter::mcp {
namespace {

namespace json = boost::json;

constexpr i64 kMostExact = (i64{1} << 53) - 1;           // that a number in JavaScript holds
constexpr Ns kEarliestUnix = i64{3} * 365 * 24 * kHour;  // a time before it is counted from something else
constexpr size_t kMostNotes = 10, kMostNext = 3, kMostSentence = 600;

json::value cell_of(const Field& field, const Value& value) {
  if (is_null(value)) return nullptr;
  if (const auto* text = std::get_if<std::string_view>(&value)) return json::string(clean(*text));
  if (const bool* flag = std::get_if<bool>(&value)) return *flag;
  if (const double* real = std::get_if<double>(&value)) {
    if (!std::isfinite(*real)) return nullptr;
    if (std::abs(*real) > static_cast<double>(kMostExact)) return json::string(fmt::format("{}", *real));
    return *real;
  }
  const i64 whole = std::get<i64>(value);
  if (field.role == Role::time && whole >= kEarliestUnix) return json::string(time_text(whole));
  if (whole > kMostExact || whole < -kMostExact) return json::string(std::to_string(whole));
  return whole;
}

// A cell in the text: a mark between cells is none of its own.
std::string shown(const json::value& cell) {
  if (cell.is_null()) return "-";
  if (!cell.is_string()) return wire::json_text(cell);
  std::string text(cell.get_string());
  std::ranges::replace(text, '|', '/');
  return text;
}

// What of an answer is shown.
struct Cut {
  size_t rows;
  std::vector<size_t> columns;
  size_t notes, sentence = kMostSentence;
  bool has_commands = true;
};

std::string within_bytes(const std::string& text, size_t most) {
  return text.size() <= most ? text : printable_within(text, most - 4) + "…";
}

class Shape {
 public:
  Shape(const Answer& answer, const Continuation& continuation)
      : answer_(answer), continuation_(continuation) {}

  size_t rows_at_most() const {
    const size_t rows = answer_.table.rows();
    return answer_.offset >= rows ? 0 : std::min(answer_.limit, rows - answer_.offset);
  }

  json::object structured(const Cut& cut) const {
    const Table& table = answer_.table;
    json::object all;
    all["answer"] = within_bytes(answer_.sentence, cut.sentence);
    json::array columns, rows;
    for (const size_t c : cut.columns) {
      const Field& field = table.schema()[c];
      columns.push_back(json::object{{"name", field.name}, {"unit", unit_name(field.unit)}});
    }
    for (size_t row = answer_.offset; row < answer_.offset + cut.rows; ++row)
      rows.push_back(row_of(row, cut));
    all["columns"] = std::move(columns);
    all["rows"] = std::move(rows);
    all["total_rows"] = static_cast<i64>(table.rows());
    all["left_out"] = static_cast<i64>(table.rows() - cut.rows);
    const size_t next_row = answer_.offset + cut.rows;
    if (next_row < table.rows() && !answer_.version.empty())
      all["next_cursor"] =
          cursor_text({continuation_.tool, continuation_.arguments, answer_.version, next_row});
    if (answer_.record) all["incident"] = *answer_.record;
    json::array sources, notes, next;
    for (size_t i = 0; i < answer_.sources.size(); ++i) {
      const Source& source = answer_.sources[i];
      json::object one{{"id", fmt::format("s{}", i + 1)}, {"what", source.what}};
      if (!source.table.empty()) one["table"] = source.table;
      one["command"] = cut.has_commands ? source.command : "";
      sources.push_back(std::move(one));
    }
    for (const std::string& note : notes_of(cut)) notes.push_back(json::string(note));
    for (size_t i = 0; i < std::min(answer_.next.size(), kMostNext); ++i)
      next.push_back(json::object{{"tool", answer_.next[i].tool}, {"arguments", answer_.next[i].arguments}});
    all["sources"] = std::move(sources);
    all["notes"] = std::move(notes);
    all["next"] = std::move(next);
    if (answer_.as_of) all["as_of"] = time_text(*answer_.as_of);
    return all;
  }

  // The same for who reads text alone: the sentence, the rows, where they are from. Rows that go beyond
  // `most` bytes are left out, and said.
  std::string text(const Cut& cut, size_t most) const {
    std::string head = within_bytes(answer_.sentence, cut.sentence) + "\n", rows, tail;
    const Table& table = answer_.table;
    for (size_t i = 0; i < answer_.sources.size(); ++i)
      tail += fmt::format("[s{}] {}: {}\n", i + 1, answer_.sources[i].what,
                          cut.has_commands ? answer_.sources[i].command : "");
    for (const std::string& note : notes_of(cut)) tail += "note: " + note + "\n";
    if (!answer_.next.empty())
      tail += fmt::format("next: {} {}\n", answer_.next[0].tool, wire::json_text(answer_.next[0].arguments));
    if (answer_.as_of) tail += "as of " + time_text(*answer_.as_of) + "\n";
    tail = within_bytes_of_lines(std::move(tail), most / 2);
    if (!cut.columns.empty() && table.rows() > 0) {
      std::string names;
      for (const size_t c : cut.columns)
        names += (names.empty() ? "" : " | ") + std::string(table.schema()[c].name);
      head += "\n" + names + "\n";
    }
    size_t shown_rows = 0;
    constexpr size_t kRest = 60;  // "N of M rows are shown"
    for (; shown_rows < cut.rows; ++shown_rows) {
      std::string line;
      for (const json::value& cell : row_of(answer_.offset + shown_rows, cut))
        line += (line.empty() ? "" : " | ") + shown(cell);
      if (head.size() + rows.size() + line.size() + tail.size() + kRest > most) break;
      rows += line + "\n";
    }
    if (shown_rows < table.rows())
      rows += fmt::format("({} of {} rows are shown)\n", shown_rows, table.rows());
    return head + rows + "\n" + tail;
  }

 private:
  json::array row_of(size_t row, const Cut& cut) const {
    json::array cells;
    for (const size_t c : cut.columns)
      cells.push_back(cell_of(answer_.table.schema()[c], answer_.table.at(row, c)));
    return cells;
  }
  static std::string within_bytes_of_lines(std::string text, size_t most) {
    if (text.size() <= most) return text;
    text.resize(text.rfind('\n', most) + 1);
    return text;
  }
  std::vector<std::string> notes_of(const Cut& cut) const {
    std::vector<std::string> notes(
        answer_.notes.begin(),
        answer_.notes.begin() + static_cast<std::ptrdiff_t>(std::min(cut.notes, answer_.notes.size())));
    if (notes.size() < answer_.notes.size())
      notes.push_back(fmt::format("{} further notes are left out", answer_.notes.size() - notes.size()));
    if (cut.rows < rows_at_most())
      notes.push_back(fmt::format(
          "{} rows of these did not fit; narrow them by where and columns, or go on with next_cursor",
          rows_at_most() - cut.rows));
    if (!cut.has_commands)
      notes.push_back("the commands name more files than there is room for; detail: more may have it");
    if (cut.columns.size() < answer_.table.columns())
      notes.push_back(fmt::format("{} columns did not fit; name those that are wanted in columns",
                                  answer_.table.columns() - cut.columns.size()));
    return notes;
  }

  const Answer& answer_;
  const Continuation& continuation_;
};

json::object result(json::object structured, const std::string& text) {
  json::object all;
  all["content"] = json::array{json::object{{"type", "text"}, {"text", text}}};
  all["structuredContent"] = std::move(structured);
  all["isError"] = false;
  return all;
}

}  // namespace

json::object result_of(const Answer& answer, size_t most, const Continuation& continuation) {
  const Shape shape(answer, continuation);
  std::vector<size_t> all_columns(answer.table.columns());
  std::iota(all_columns.begin(), all_columns.end(), size_t{0});
  Cut cut{.rows = shape.rows_at_most(), .columns = all_columns, .notes = kMostNotes};
  constexpr size_t kAround = 256;  // what a result has beside it
  most -= kAround;
  const size_t text_bytes = std::min(kTextBytes, most / 2 - kAround);
  while (true) {
    json::object all = result(shape.structured(cut), shape.text(cut, text_bytes));
    if (wire::json_text(all).size() <= most) return all;
    const auto details = [&] {
      return std::ranges::find_if(cut.columns.rbegin(), cut.columns.rend(),
                                  [&](size_t c) { return answer.table.schema()[c].role == Role::detail; });
    };
    if (cut.rows > 1) {
      cut.rows -= std::max<size_t>(1, cut.rows / 8);
    } else if (const auto last = details(); last != cut.columns.rend()) {
      cut.columns.erase(std::next(last).base());
    } else if (cut.columns.size() > 4) {
      cut.columns.pop_back();
    } else if (cut.notes > 0) {
      cut.notes /= 2;
    } else if (cut.rows > 0) {
      cut.rows = 0;
    } else if (cut.has_commands) {
      cut = {
          .rows = shape.rows_at_most(), .columns = all_columns, .notes = kMostNotes, .has_commands = false};
    } else {
      return error_result("the answer is larger than an answer may be; ask for less of it");
    }
  }
}

json::object error_result(const std::string& sentence) {
  json::object all;
  all["content"] = json::array{json::object{{"type", "text"}, {"text", sentence}}};
  all["isError"] = true;
  return all;
}

json::object output_schema(bool has_record) {
  const json::object text{{"type", "string"}}, number{{"type", "integer"}}, list{{"type", "array"}};
  json::object properties{
      {"answer", text},      {"columns", list}, {"rows", list},  {"total_rows", number}, {"left_out", number},
      {"next_cursor", text}, {"sources", list}, {"notes", list}, {"next", list},         {"as_of", text}};
  if (has_record) properties["incident"] = json::object{{"type", "object"}};
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", json::array{"answer", "columns", "rows", "sources"}},
          {"additionalProperties", false}};
}

}  // namespace spotter::mcp
