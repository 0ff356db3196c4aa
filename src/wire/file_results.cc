#include "wire/file_results.h"

#include <stdexcept>

#include "base/text/number.h"
#include "base/text/utf8.h"
#include "base/version.h"
#include "wire/json.h"
#include "wire/notes_json.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;

constexpr size_t kMostFiles = 4096, kMostRows = size_t{1} << 20;  // of a table
constexpr Ns kLatestStart = Ns{1} << 62;

json::value json_of(std::optional<i64> number) { return number ? json::value(*number) : json::value(); }

// A real as text, since the library's reader of numbers is not exact, and JSON has no infinities.
json::value json_of(const Value& cell) {
  if (const i64* whole = std::get_if<i64>(&cell)) return *whole;
  if (const double* real = std::get_if<double>(&cell)) return mended(fmt::format("{}", *real));
  if (const bool* flag = std::get_if<bool>(&cell)) return *flag;
  if (const auto* text = std::get_if<std::string_view>(&cell)) return mended(*text);
  return {};
}

using wire::json_of;

json::object json_of(const Table& table) {
  json::array rows;
  for (size_t r = 0; r < table.rows(); ++r) {
    json::array row;
    for (size_t c = 0; c < table.columns(); ++c) row.push_back(json_of(table.at(r, c)));
    rows.push_back(std::move(row));
  }
  return {{"rows", std::move(rows)}, {"notes", json_of(table.notes)}};
}

json::object json_of(const analyze::FileResult& file) {
  json::array tables;
  for (const Table& table : file.tables) tables.push_back(json_of(table));
  const RankEvidence& e = file.evidence;
  json::object object = {{"path", mended(e.path)},
                         {"contents_rank", json_of(e.contents_rank)},
                         {"name_rank", json_of(e.name_rank)},
                         {"has_events", e.has_events},
                         {"start", e.start},
                         {"end", e.end},
                         {"receipt_rank", json_of(e.receipt_rank)},
                         {"unwanted", file.unwanted},
                         {"first_start", json_of(file.start)},
                         {"notes", json_of(file.notes)},
                         {"tables", std::move(tables)}};
  if (file.error)
    object["error"] = {{"code", code_name(file.error->code)}, {"message", mended(file.error->message)}};
  return object;
}

json::array json_of(std::span<const Field> columns) {
  json::array all;
  for (const Field& f : columns) all.push_back(json::array{f.name, type_name(f.type), unit_name(f.unit)});
  return all;
}

json::array json_of(std::span<const Analysis* const> analyses) {
  json::array all;
  for (const Analysis* a : analyses)
    all.push_back(json::object{{"name", a->name}, {"columns", json_of(map_columns(*a))}});
  return all;
}

// The functions below throw where a value has another type or form; read_file_results() catches it.

std::optional<i64> optional_in(const json::value& value) {
  if (value.is_null()) return std::nullopt;
  return value.as_int64();
}

double real_in(const json::value& value) {
  const auto real = number_in<double>(text_in(value));
  expect(real.has_value(), "a real number");
  return *real;
}

Value exact_cell_in(const json::value& value, Type type) {
  return type == Type::real && !value.is_null() ? Value(real_in(value)) : cell_in(value, type);
}

class Reader {
 public:
  explicit Reader(std::span<const Analysis* const> analyses) : analyses_(analyses) {}

  analyze::FileResult file(const json::object& object) {
    analyze::FileResult file;
    file.evidence = {std::string(text_in(object.at("path"))), optional_in(object.at("contents_rank")),
                     optional_in(object.at("name_rank")),     object.at("has_events").as_bool(),
                     object.at("start").as_int64(),           object.at("end").as_int64(),
                     optional_in(object.at("receipt_rank"))};
    file.unwanted = object.at("unwanted").as_bool();
    expect(!file.unwanted || file.evidence.contents_rank, "a rank of a file that is not wanted");
    if (const json::value* error = object.if_contains("error")) {
      const json::object& e = error->as_object();
      file.evidence.is_unread = true;
      file.error = Error{code_of(text_in(e.at("code"))), std::string(text_in(e.at("message")))};
    }
    file.start = optional_in(object.at("first_start"));
    expect(!file.start || (0 <= *file.start && *file.start < kLatestStart), "a time");
    file.notes = notes_in(object.at("notes"), notes_);
    const json::array& tables = object.at("tables").as_array();
    expect(tables.size() == (file.error || file.unwanted ? 0 : analyses_.size()), "a table of each analysis");
    for (size_t i = 0; i < tables.size(); ++i)
      file.tables.push_back(table(*analyses_[i], tables[i].as_object()));
    return file;
  }

 private:
  Table table(const Analysis& analysis, const json::object& object) {
    const std::span<const Field> columns = map_columns(analysis);
    Table table(analysis.name, columns);
    const json::array& rows = object.at("rows").as_array();
    expect(rows.size() <= kMostRows, "fewer rows");
    std::vector<Value> row(columns.size());
    for (const json::value& line : rows) {
      const json::array& cells = line.as_array();
      expect(cells.size() == columns.size(), "a cell of each column");
      for (size_t c = 0; c < columns.size(); ++c) {
        row[c] = exact_cell_in(cells[c], columns[c].type);
        expect(!is_null(row[c]) || may_be_null(analysis, columns[c]), "a cell that is not null");
      }
      table.append(row);
    }
    table.notes = notes_in(object.at("notes"), notes_);
    return table;
  }

  std::span<const Analysis* const> analyses_;
  size_t notes_ = 0;
};

// The first analysis whose columns are not those of this program; empty: none.
std::string other_analysis(const json::value& theirs, std::span<const Analysis* const> analyses) {
  const json::array own = json_of(analyses);
  const json::array& all = theirs.as_array();
  for (size_t i = 0; i < own.size(); ++i)
    if (i >= all.size() || all[i] != own[i]) return analyses[i]->name;
  return all.size() > own.size() ? "more analyses" : "";
}

Result<std::vector<analyze::FileResult>> read(const json::object& object,
                                              std::span<const Analysis* const> analyses,
                                              const Writer& writer) {
  const std::string_view version = text_in(object.at("version"));
  if (version != kVersion)
    return fail(Code::unsupported, "{} is spotter {}, but this is spotter {}; {}", writer.name,
                to_printable(version.substr(0, 32)), kVersion, writer.remedy);
  if (const std::string other = other_analysis(object.at("analyses"), analyses); !other.empty())
    return fail(Code::unsupported, "{} is another build of spotter {}, with other columns of {}; {}",
                writer.name, kVersion, other, writer.remedy);
  const json::array& files = object.at("files").as_array();
  expect(files.size() <= kMostFiles, "fewer files");
  Reader reader(analyses);
  std::vector<analyze::FileResult> all;
  for (const json::value& file : files) all.push_back(reader.file(file.as_object()));
  return all;
}

}  // namespace

std::string file_results_text(std::span<const analyze::FileResult> files,
                              std::span<const Analysis* const> analyses) {
  json::array all;
  for (const analyze::FileResult& file : files) all.push_back(json_of(file));
  return json::serialize(
      json::object{{"version", kVersion}, {"analyses", json_of(analyses)}, {"files", std::move(all)}});
}

Result<std::vector<analyze::FileResult>> read_file_results(std::string_view text,
                                                           std::span<const Analysis* const> analyses,
                                                           const Writer& writer) {
  if (text.size() > kMostResultsBytes)
    return fail(Code::corrupt, "the tables have {} bytes; {} at most", text.size(), kMostResultsBytes);
  const Result<json::object> object = read_object(text);
  if (!object) return fail(Code::corrupt, "these are no tables: {}", object.error().message);
  try {
    return read(*object, analyses, writer);
  } catch (const std::invalid_argument& error) {
    return fail(Code::corrupt, "the tables are damaged: {} was expected", error.what());
  } catch (const std::exception&) {
    return fail(Code::corrupt, "the tables are damaged: a member is missing or of another type");
  }
}

}  // namespace spotter::wire
