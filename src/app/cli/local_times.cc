#include "app/cli/local_times.h"

#include <array>
#include <ctime>
#include <string>

#include "base/time.h"

namespace spotter::app {
namespace {

std::string clock_text(Ns unix_ns, bool with_day) {
  const auto seconds = static_cast<time_t>(unix_ns / kSecond);
  tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), with_day ? "%m-%d %H:%M:%S" : "%H:%M:%S", &local);
  return text.data();
}

bool is_unix_time(const Field& field) { return field.role == Role::time && field.type == Type::integer; }

// "time" of time_ns: it is no number any more.
Field text_field(const Field& field) {
  std::string_view name = field.name;
  if (name.ends_with("_ns")) name.remove_suffix(3);
  return {lasting_text(name), Type::text, Unit::none, Role::time, field.help};
}

Table with_local_times(const Table& table, bool with_day) {
  std::vector<Field> fields;
  for (const Field& field : table.schema()) fields.push_back(is_unix_time(field) ? text_field(field) : field);
  Table shown(table.name(), fields);
  shown.notes = table.notes;
  std::vector<Value> row(fields.size());
  std::vector<std::string> texts(fields.size());
  for (size_t r = 0; r < table.rows(); ++r) {
    for (size_t c = 0; c < fields.size(); ++c) {
      row[c] = table.at(r, c);
      if (is_null(row[c]) || !is_unix_time(table.schema()[c])) continue;
      texts[c] = clock_text(table.integer(r, c), with_day);
      row[c] = std::string_view(texts[c]);
    }
    shown.append(row);
  }
  return shown;
}

}  // namespace

std::vector<Table> with_local_times(std::span<const Table> tables, bool with_day) {
  std::vector<Table> shown;
  for (const Table& table : tables) shown.push_back(with_local_times(table, with_day));
  return shown;
}

}  // namespace spotter::app
