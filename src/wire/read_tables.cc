#include "wire/read_tables.h"

#include <algorithm>

#include "wire/json.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;

// Of an answer, which anybody may have written.
constexpr size_t kMostTables = 1000, kMostColumns = 1000, kMostCells = 20'000'000, kMostNotes = 1000;
constexpr i64 kMostCount = 1'000'000'000;

Field field_in(const json::object& column) {
  const auto type = type_of(text_in(column.at("type")));
  expect(type.has_value(), "a type");
  return {lasting_text(text_in(column.at("name"))), *type,
          unit_of(text_in(column.at("unit"))).value_or(Unit::none),
          role_of(text_in(column.at("role"))).value_or(Role::detail),
          lasting_text(text_in(column.at("help")))};
}

constexpr size_t kNowhere = ~size_t{0};

// `from`: of each column of the table, where the answer has it. `cells` counts those of all tables.
void append_rows(Table& table, const json::object& object, std::span<const size_t> from, size_t& cells) {
  const size_t columns = object.at("columns").as_array().size();
  std::vector<Value> row(from.size());
  for (const json::value& entry : object.at("rows").as_array()) {
    const json::array& values = entry.as_array();
    expect(values.size() == columns, "a cell of each column");
    expect((cells += std::max(columns, from.size()) + 1) <= kMostCells, "fewer cells");
    for (size_t c = 0; c < from.size(); ++c)
      row[c] = from[c] == kNowhere ? Value() : cell_in(values[from[c]], table.schema()[c].type);
    table.append(row);
  }
}

Table table_in(const json::object& object, size_t& cells) {
  std::vector<Field> fields;
  std::vector<size_t> from;
  for (const json::value& column : object.at("columns").as_array()) {
    fields.push_back(field_in(column.as_object()));
    from.push_back(from.size());
  }
  expect(fields.size() <= kMostColumns, "fewer columns");
  Table table(std::string(text_in(object.at("name"))), fields);
  append_rows(table, object, from, cells);
  return table;
}

Notes notes_in(const json::object& answer) {
  const json::array& entries = answer.at("notes").as_array();
  expect(entries.size() <= kMostNotes, "fewer notes");
  Notes notes;
  for (const json::value& entry : entries) {
    const json::object& note = entry.as_object();
    const json::value* severity = note.if_contains("severity");
    notes.add(text_in(note.at("kind")), severity ? severity_in(*severity) : Severity::info,
              text_in(note.at("sentence")), -1, std::clamp<i64>(note.at("count").as_int64(), 0, kMostCount));
  }
  return notes;
}

TablesAnswer tables_in(const json::object& answer) {
  const json::array& tables = answer.at("tables").as_array();
  expect(tables.size() <= kMostTables, "fewer tables");
  TablesAnswer all;
  size_t cells = 0;
  for (const json::value& table : tables) all.tables.push_back(table_in(table.as_object(), cells));
  all.notes = notes_in(answer);
  return all;
}

}  // namespace

Table first_table_in(const json::object& answer, std::span<const Field> schema) {
  const json::object& object = answer.at("tables").as_array().at(0).as_object();
  const json::array& columns = object.at("columns").as_array();
  std::vector<size_t> from(schema.size(), kNowhere);
  for (size_t c = 0; c < columns.size(); ++c) {
    const std::string_view name = text_in(columns[c].as_object().at("name"));
    const auto field = std::ranges::find(schema, name, &Field::name);
    if (field != schema.end()) from[static_cast<size_t>(field - schema.begin())] = c;
  }
  Table table(std::string(text_in(object.at("name"))), schema);
  size_t cells = 0;
  append_rows(table, object, from, cells);
  table.notes = notes_in(answer);
  return table;
}

Result<TablesAnswer> read_tables(const std::string& body) {
  const Result<json::object> object = read_object(body);
  if (object) {
    try {
      return tables_in(*object);
    } catch (const std::exception&) {
    }
  }
  return fail(Code::corrupt, "what answers there is no agent of this program");
}

}  // namespace spotter::wire
