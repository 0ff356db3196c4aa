#include "api/read_tables.h"

#include <algorithm>
#include <array>

#include "api/json.h"

namespace spotter::api {
namespace {

namespace json = boost::json;

// Of an answer, which anybody may have written.
constexpr size_t kMostTables = 1000, kMostColumns = 1000, kMostCells = 20'000'000, kMostNotes = 1000;
constexpr i64 kMostCount = 1'000'000'000;

constexpr Type kTypes[] = {Type::integer, Type::real, Type::text, Type::flag};
constexpr Role kRoles[] = {Role::key, Role::value, Role::counter, Role::time, Role::detail};
constexpr Severity kSeverities[] = {Severity::info, Severity::repair, Severity::loss};
constexpr Unit kUnits[] = {Unit::none,   Unit::ns,          Unit::bytes,   Unit::ratio,
                           Unit::count,  Unit::bytes_per_s, Unit::celsius, Unit::watts,
                           Unit::joules, Unit::hertz,       Unit::per_s};

// Throws where none has the name and there is no `otherwise`.
template <class T, size_t N>
T named(const T (&all)[N], const char* (*name_of)(T), std::string_view name, const T* otherwise = nullptr) {
  const auto it = std::ranges::find_if(all, [&](T one) { return name == name_of(one); });
  if (it != std::end(all)) return *it;
  if (!otherwise) throw std::invalid_argument("no such name");
  return *otherwise;
}

Field field_in(const json::object& column) {
  constexpr Unit kNone = Unit::none;
  return {lasting_text(text_in(column.at("name"))), named(kTypes, type_name, text_in(column.at("type"))),
          named(kUnits, unit_name, text_in(column.at("unit")), &kNone),
          named(kRoles, role_name, text_in(column.at("role"))), lasting_text(text_in(column.at("help")))};
}

void expect(bool condition, const char* what) {
  if (!condition) throw std::length_error(what);
}

Table table_in(const json::object& object, size_t& cells) {
  std::vector<Field> fields;
  for (const json::value& column : object.at("columns").as_array())
    fields.push_back(field_in(column.as_object()));
  expect(fields.size() <= kMostColumns, "fewer columns");
  Table table(std::string(text_in(object.at("name"))), fields);
  std::vector<Value> row(fields.size());
  for (const json::value& entry : object.at("rows").as_array()) {
    const json::array& values = entry.as_array();
    expect(values.size() == fields.size(), "a cell of each column");
    expect((cells += values.size()) <= kMostCells, "fewer cells");
    for (size_t c = 0; c < fields.size(); ++c) row[c] = cell_in(values[c], fields[c].type);
    table.append(row);
  }
  return table;
}

TablesAnswer answer_in(const json::object& object) {
  TablesAnswer answer;
  const json::array& tables = object.at("tables").as_array();
  const json::array& notes = object.at("notes").as_array();
  expect(tables.size() <= kMostTables && notes.size() <= kMostNotes, "less");
  size_t cells = 0;
  for (const json::value& table : tables) answer.tables.push_back(table_in(table.as_object(), cells));
  for (const json::value& entry : notes) {
    const json::object& note = entry.as_object();
    answer.notes.add(
        text_in(note.at("kind")), named(kSeverities, severity_name, text_in(note.at("severity"))),
        text_in(note.at("sentence")), -1, std::clamp<i64>(note.at("count").as_int64(), 0, kMostCount));
  }
  return answer;
}

}  // namespace

Result<TablesAnswer> read_tables(const std::string& body) {
  const Result<json::object> object = read_object(body);
  if (object) {
    try {
      return answer_in(*object);
    } catch (const std::exception&) {
    }
  }
  return fail(Code::corrupt, "what answers there is no agent of this program");
}

}  // namespace spotter::api
