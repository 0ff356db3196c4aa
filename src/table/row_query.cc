#include "table/row_query.h"

#include <algorithm>
#include <functional>

#include "base/moment.h"
#include "base/text/glob.h"
#include "base/text/number.h"
#include "base/text/suggestion.h"
#include "base/text/utf8.h"
#include "table/ops.h"

namespace spotter::table {
namespace {

using Holds = std::function<bool(const Value&)>;

constexpr std::string_view kAnd = " and ", kOr = " or ", kNull = "null";
// The longer ones first: each is looked for where a name ends.
constexpr std::string_view kOperators[] = {"!=", "<=", ">=", "=", "<", ">"};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Result<size_t> column_named(const Table& table, std::string_view name) {
  const auto schema = table.schema();
  const auto it =
      std::ranges::find(schema, name, [](const Field& field) { return std::string_view(field.name); });
  if (it != schema.end()) return static_cast<size_t>(it - schema.begin());
  std::string names;
  for (const Field& field : schema) names += (names.empty() ? "" : ", ") + std::string(field.name);
  return fail(Code::invalid, "the table {} has no column \"{}\"; it has {}", table.name(), to_printable(name),
              names);
}

double number_of(const Value& cell) {
  if (const i64* whole = std::get_if<i64>(&cell)) return static_cast<double>(*whole);
  if (const double* real = std::get_if<double>(&cell)) return *real;
  return std::get<bool>(cell) ? 1 : 0;
}

// "3", "0-3,7"
Result<std::vector<std::pair<i64, i64>>> parse_ranges(std::string_view words) {
  std::vector<std::pair<i64, i64>> ranges;
  while (true) {
    const std::string_view word = trimmed(words.substr(0, words.find(',')));
    const size_t dash = word.find('-', 1);
    const auto first = number_in<i64>(word.substr(0, dash));
    const auto last = dash == word.npos ? first : number_in<i64>(word.substr(dash + 1));
    if (!first || !last)
      return fail(Code::invalid, "\"{}\" is neither a whole number nor a range as 0-3", to_printable(word));
    ranges.emplace_back(*first, *last);
    const size_t comma = words.find(',');
    if (comma == words.npos) return ranges;
    words.remove_prefix(comma + 1);
  }
}

// A whole number, or a moment of a column of times.
std::optional<i64> whole_in(const Field& field, std::string_view value) {
  if (const auto whole = number_in<i64>(value)) return whole;
  if (field.role != Role::time || field.unit != Unit::ns) return std::nullopt;
  const auto moment = parse_moment(std::string(value));
  return moment ? std::optional(*moment) : std::nullopt;
}

constexpr std::string_view kCut = "…";

Result<Holds> equality(const Field& field, std::string_view value) {
  if (value == kNull) return Holds([](const Value& cell) { return is_null(cell); });
  switch (field.type) {
    case Type::text: {
      // As a long one is shown, cut: what begins so.
      std::string pattern(value);
      if (pattern.ends_with(kCut)) pattern.replace(pattern.size() - kCut.size(), kCut.size(), "*");
      return Holds([pattern = std::move(pattern)](const Value& cell) {
        return !is_null(cell) && matches_glob(pattern, std::get<std::string_view>(cell));
      });
    }
    case Type::flag:
      if (value != "true" && value != "false") return fail(Code::invalid, "it is true or false");
      return Holds(
          [is = value == "true"](const Value& cell) { return !is_null(cell) && std::get<bool>(cell) == is; });
    case Type::integer: {
      if (const auto whole = whole_in(field, value))
        return Holds(
            [is = *whole](const Value& cell) { return !is_null(cell) && std::get<i64>(cell) == is; });
      TRY_ASSIGN(auto ranges, parse_ranges(value));
      return Holds([ranges = std::move(ranges)](const Value& cell) {
        return !is_null(cell) && std::ranges::any_of(ranges, [&](const auto& range) {
          return std::get<i64>(cell) >= range.first && std::get<i64>(cell) <= range.second;
        });
      });
    }
    case Type::real:
      break;
  }
  const auto number = number_in<double>(value);
  if (!number) return fail(Code::invalid, "\"{}\" is no number", to_printable(value));
  return Holds([number = *number](const Value& cell) { return !is_null(cell) && number_of(cell) == number; });
}

template <class Number>
bool is_in_order(Number left, std::string_view op, Number right) {
  return op == "<" ? left < right : op == "<=" ? left <= right : op == ">" ? left > right : left >= right;
}

Result<Holds> order(const Field& field, std::string_view op, std::string_view value) {
  if (field.type == Type::text || field.type == Type::flag)
    return fail(Code::invalid, "it is no number: it is asked for by = and !=");
  const auto whole = field.type == Type::integer ? whole_in(field, value) : std::nullopt;
  const auto number = number_in<double>(value);
  if (!whole && !number) return fail(Code::invalid, "\"{}\" is no number", to_printable(value));
  return Holds([op, whole, number](const Value& cell) {
    if (is_null(cell)) return false;
    // Of large ones a double leaves out digits.
    return whole ? is_in_order(std::get<i64>(cell), op, *whole) : is_in_order(number_of(cell), op, *number);
  });
}

struct Condition {
  size_t column;
  Holds holds;
};

// Where a word stands outside of quotes, which may begin where a value does; npos: nowhere.
size_t find_unquoted(std::string_view text, std::string_view word) {
  char quote = 0, before = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote == 0 && text.substr(at).starts_with(word)) return at;
    if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '"' || c == '\'') &&
             std::string_view("=<>").find(before) != std::string_view::npos)
      quote = c;
    if (c != ' ') before = c;
  }
  return text.npos;
}

// "x or name=y"
bool is_alternative(std::string_view value) {
  const size_t at = find_unquoted(value, kOr);
  if (at == value.npos) return false;
  const std::string_view rest = trimmed(value.substr(at + kOr.size()));
  const size_t name = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789");
  return name != rest.npos && name > 0 &&
         std::string_view("=!<>").find(trimmed(rest.substr(name)).substr(0, 1)) != std::string_view::npos;
}

// The value within its quotes, where it has some.
Result<std::string_view> without_quotes(std::string_view value) {
  const bool is_quoted =
      value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front();
  if (!is_quoted) return value;
  const std::string_view inside = value.substr(1, value.size() - 2);
  if (inside.find(value.front()) != inside.npos)
    return fail(Code::invalid, "{}: one text in quotes is wanted", to_printable(value));
  return inside;
}

Result<Condition> parse_condition(const Table& table, std::string_view text) {
  size_t at = text.npos;
  std::string_view op;
  for (const std::string_view candidate : kOperators)
    if (const size_t place = text.find(candidate); place < at) {
      at = place;
      op = candidate;
    }
  if (at == text.npos || at == 0)
    return fail(Code::invalid, "\"{}\" is no condition; write one as rank=3 or dur_ns>1000",
                to_printable(text));
  TRY_ASSIGN(const size_t column, column_named(table, trimmed(text.substr(0, at))));
  const Field& field = table.schema()[column];
  const std::string_view written = trimmed(text.substr(at + op.size()));
  if (op == "=" && written.starts_with('='))
    return fail(Code::invalid, "\"{}\": equality is one =", to_printable(text));
  const bool is_quoted = written.starts_with('"') || written.starts_with('\'');
  const size_t close = is_quoted ? written.find(written.front(), 1) : 0;
  if (is_alternative(close == written.npos ? written : written.substr(close)))
    return fail(
        Code::invalid,
        "\"{}\": conditions are joined by and alone; * stands for any text, and 0-3,7 for several numbers",
        to_printable(text));
  TRY_ASSIGN(const std::string_view value, without_quotes(written));
  if (op != "=" && op != "!=") {
    auto holds = order(field, op, value);
    if (!holds) return within(holds.error(), field.name);
    return Condition{column, std::move(*holds)};
  }
  auto holds = equality(field, value);
  if (!holds) return within(holds.error(), field.name);
  if (op == "!=") *holds = [is = std::move(*holds)](const Value& cell) { return !is(cell); };
  return Condition{column, std::move(*holds)};
}

}  // namespace

Result<Table> chosen_rows(const Table& table, const RowQuery& query) {
  std::vector<Condition> conditions;
  std::string_view rest = trimmed(query.where);
  while (!rest.empty()) {
    const size_t end = std::min(find_unquoted(rest, kAnd), rest.size());
    Result<Condition> condition = parse_condition(table, trimmed(rest.substr(0, end)));
    if (!condition) return within(condition.error(), "where");
    conditions.push_back(std::move(*condition));
    rest.remove_prefix(std::min(end + kAnd.size(), rest.size()));
  }
  std::vector<size_t> rows;
  for (size_t row = 0; row < table.rows(); ++row)
    if (std::ranges::all_of(conditions, [&](const Condition& c) { return c.holds(table.at(row, c.column)); }))
      rows.push_back(row);
  Table all = conditions.empty() ? table : pick(table, rows);
  if (query.sort.empty()) return all;
  const bool is_descending = query.sort.starts_with('-');
  const auto by = column_named(table, std::string_view(query.sort).substr(is_descending ? 1 : 0));
  if (!by) return within(by.error(), "sort");
  Table sorted = sort(all, {{table.schema()[*by].name, is_descending}});
  sorted.notes = table.notes;
  return sorted;
}

Result<Table> chosen_columns(const Table& table, const RowQuery& query) {
  if (query.columns.empty()) return table;
  std::vector<std::string_view> names;
  for (const std::string& name : query.columns) {
    if (const auto column = column_named(table, name); !column) return within(column.error(), "columns");
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  Table part = project(table, names);
  part.notes = table.notes;
  return part;
}

Result<Table> chosen(const Table& table, const RowQuery& query) {
  TRY_ASSIGN(Table rows, chosen_rows(table, query));
  if (query.limit) rows = head(rows, static_cast<size_t>(std::max<i64>(*query.limit, 0)));
  return chosen_columns(rows, query);
}

}  // namespace spotter::table
