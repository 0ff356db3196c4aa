#include "render/prometheus.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text/utf8.h"
#include "base/time.h"
#include "table/metric.h"
#include "table/named_samples.h"

namespace spotter::render {
namespace {

constexpr std::string_view kTotal = "_total";

// Empty where there is none.
std::string_view base_unit(Unit unit) {
  switch (unit) {
    case Unit::ns:
      return "seconds";
    case Unit::bytes_per_s:
      return "bytes_per_second";
    case Unit::per_s:
      return "per_second";
    case Unit::bytes:
    case Unit::ratio:
    case Unit::celsius:
    case Unit::watts:
    case Unit::joules:
    case Unit::hertz:
      return unit_name(unit);
    case Unit::none:
    case Unit::count:
      break;
  }
  return {};
}

bool is_detail(const Field& f) { return f.role == Role::detail; }

const char* name_of(const Field& column) { return column.total ? column.total->name : column.name; }

// Without "_total": it is for counters, and those get it where samples are named.
std::string family_name(std::string_view table, const Field& column) {
  std::string name = "spotter_" + table::metric_name(table, name_of(column));
  if (name.ends_with(kTotal)) name.resize(name.size() - kTotal.size());
  const std::string_view base = base_unit(column.unit);
  if (base.empty()) return name;
  const std::string own = fmt::format("_{}", unit_name(column.unit)), wanted = fmt::format("_{}", base);
  if (name.ends_with(own)) name.resize(name.size() - own.size());
  if (!name.ends_with(wanted)) name += wanted;
  return name;
}

template <class Number>
void append_number(std::string& out, Number number) {
  char text[32];
  out.append(text, std::to_chars(std::begin(text), std::end(text), number).ptr);
}

void append_real(std::string& out, double number) {
  if (std::isnan(number))
    out += "NaN";
  else if (std::isinf(number))
    out += number > 0 ? "+Inf" : "-Inf";
  else
    append_number(out, number);
}

// All digits: a double near today's epoch has not got the nanoseconds.
void append_seconds(std::string& out, i64 ns) {
  if (ns < 0) out += '-';
  const u64 size = ns < 0 ? u64{0} - static_cast<u64>(ns) : static_cast<u64>(ns);
  append_number(out, size / kSecond);
  u64 rest = size % kSecond;
  if (rest == 0) return;
  char digits[] = ".000000000";
  size_t length = sizeof digits - 1;
  for (size_t at = length - 1; at > 0; --at, rest /= 10) digits[at] = static_cast<char>('0' + rest % 10);
  while (digits[length - 1] == '0') --length;
  out.append(digits, length);
}

void append_value(std::string& out, const Value& value, Unit unit) {
  if (const i64* whole = std::get_if<i64>(&value))
    unit == Unit::ns ? append_seconds(out, *whole) : append_number(out, *whole);
  else if (const double* real = std::get_if<double>(&value))
    append_real(out, unit == Unit::ns ? *real / static_cast<double>(kSecond) : *real);
  else if (const bool* flag = std::get_if<bool>(&value))
    out += *flag ? '1' : '0';
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '"' && quotes)
      out += "\\\"";
    else if (c == '\0')
      out += "\xEF\xBF\xBD";  // U+FFFD: to Prometheus a zero is the end of the page
    else
      out += c;
  }
}

void append_label(std::string& labels, std::string_view column, const Value& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  if (is_null(value) || (text && text->empty())) return;
  if (!labels.empty()) labels += ',';
  labels.append(prometheus_label(column)).append("=\"");
  if (const bool* flag = std::get_if<bool>(&value))
    labels += *flag ? "true" : "false";
  else if (!text)
    append_value(labels, value, Unit::none);
  else if (is_valid_utf8(*text))
    append_escaped(labels, *text, true);
  else
    append_escaped(labels, to_valid_utf8(*text), true);
  labels += '"';
}

struct Family {
  std::string name;  // without "_total" and "_info"
  std::string_view suffix, type, unit, help;
};

class Page {
 public:
  explicit Page(const PrometheusStyle& style) : style_(style) {}

  void add(const Table& table) {
    if (table::has_named_samples(table)) return add_named(table);
    pick(table);
    const auto schema = table.schema();
    for (size_t c = 0; c < schema.size(); ++c) {
      const auto is_part = [&](const Field& f) { return f.total == schema[c].total; };
      if (!table::is_numeric_metric(schema[c])) continue;
      // The first part brings the others.
      if (!schema[c].total || std::ranges::none_of(schema.first(c), is_part)) add_family(table, c);
    }
    if (std::ranges::any_of(schema, is_detail)) add_info(table);
    left_out_.emplace_back(table.name(), table.rows() - rows_.size());
  }

  void leave_out(const Table& table) {
    for (auto& [name, rows] : left_out_) {
      if (name == table.name()) rows += table.rows();
    }
  }

  std::string finish() {
    const Family family{"spotter_exposition_rows_left_out",
                        {},
                        "gauge",
                        {},
                        "Rows of a table that are not on this page: too many, or with the keys of another."};
    for (size_t i = 0; i < left_out_.size(); ++i) {
      if (i == 0) head(family);
      std::string labels;
      append_label(labels, "table", left_out_[i].first);
      begin_sample(family, labels);
      append_number(out_, left_out_[i].second);
      out_ += '\n';
    }
    if (style_.open_metrics) out_ += "# EOF\n";
    return std::move(out_);
  }

 private:
  // The rows that are shown, and their keys as labels.
  void pick(const Table& table) {
    rows_.clear();
    labels_.clear();
    labels_.reserve(std::min(table.rows(), style_.most_rows_per_table));  // the views below stay
    std::unordered_set<std::string_view> seen;
    const auto schema = table.schema();
    for (size_t row = 0; row < table.rows() && rows_.size() < style_.most_rows_per_table; ++row) {
      std::string& labels = labels_.emplace_back();
      for (size_t c = 0; c < schema.size(); ++c) {
        if (schema[c].role == Role::key) append_label(labels, schema[c].name, table.at(row, c));
      }
      if (seen.insert(labels).second)
        rows_.push_back(row);
      else
        labels_.pop_back();
    }
  }

  // The samples of these columns that are parts of one total, or of one column that is none.
  void add_family(const Table& table, size_t first) {
    const std::span<const Field> schema = table.schema();
    const Field& field = schema[first];
    const bool counts = field.role == Role::counter;
    const Family family{family_name(table.name(), field), counts ? kTotal : std::string_view(),
                        counts ? "counter" : "gauge", base_unit(field.unit),
                        field.total ? field.total->help : field.help};
    std::vector<size_t> parts = {first};
    for (size_t c = first + 1; c < schema.size(); ++c) {
      if (field.total && schema[c].total == field.total) parts.push_back(c);
    }
    bool has_head = false;
    for (size_t i = 0; i < rows_.size(); ++i) {
      for (const size_t c : parts) {
        const Value value = table.at(rows_[i], c);
        if (is_null(value)) continue;
        if (!std::exchange(has_head, true)) head(family);
        begin_sample(family, labels_[i], schema[c]);
        append_value(out_, value, field.unit);
        out_ += '\n';
      }
    }
  }

  void add_info(const Table& table) {
    const std::string help =
        fmt::format("What is known of a row of {} beside its numbers; always 1.", table.name());
    const Family family{"spotter_" + table.name(), "_info", style_.open_metrics ? "info" : "gauge", {}, help};
    const auto schema = table.schema();
    bool has_head = false;
    for (size_t i = 0; i < rows_.size(); ++i) {
      std::string labels = labels_[i];
      for (size_t c = 0; c < schema.size(); ++c) {
        if (is_detail(schema[c])) append_label(labels, schema[c].name, table.at(rows_[i], c));
      }
      if (labels.size() == labels_[i].size()) continue;
      if (!std::exchange(has_head, true)) head(family);
      begin_sample(family, labels);
      out_ += "1\n";
    }
  }

  // All of them: who collects them has a limit.
  void add_named(const Table& table) {
    std::string_view family;
    for (size_t row = 0; row < table.rows(); ++row) {
      if (table.text(row, table::kFamily) != family) {
        family = table.text(row, table::kFamily);
        head(named_family(table, row));
      }
      const Value total = table.at(row, table::kTotal);
      begin_sample({std::string(table.text(row, table::kMetric)), {}, {}, {}, {}},
                   table::named_text(table, row, table::kLabels));
      append_value(out_, is_null(total) ? table.at(row, table::kValue) : total, Unit::none);
      out_ += '\n';
    }
    left_out_.emplace_back(table.name(), 0);
  }

  Family named_family(const Table& table, size_t row) const {
    Family family{std::string(table.text(row, table::kFamily)),
                  {},
                  table.text(row, table::kType),
                  {},
                  table::named_text(table, row, table::kHelp)};
    const bool is_counter = family.type == "counter", has_total = family.name.ends_with(kTotal);
    if (is_counter && has_total) {
      family.suffix = kTotal;
      family.name.resize(family.name.size() - kTotal.size());
    }
    if (style_.open_metrics && (family.type == "untyped" || (is_counter && !has_total)))
      family.type = "unknown";
    return family;
  }

  // OpenMetrics names the family without what samples of its type end in.
  void head(const Family& family) {
    const auto line = [&](std::string_view word) {
      out_.append("# ").append(word).append(" ").append(family.name);
      if (!style_.open_metrics) out_ += family.suffix;
      out_ += ' ';
    };
    if (!family.help.empty()) {
      line("HELP");
      append_escaped(out_, family.help, style_.open_metrics);
      out_ += '\n';
    }
    line("TYPE");
    out_.append(family.type).append("\n");
    if (!style_.open_metrics || family.unit.empty()) return;
    line("UNIT");
    out_.append(family.unit).append("\n");
  }

  void begin_sample(const Family& family, std::string_view labels) {
    out_.append(family.name).append(family.suffix);
    if (!labels.empty()) out_.append("{").append(labels).append("}");
    out_ += ' ';
  }
  void begin_sample(const Family& family, std::string_view labels, const Field& column) {
    if (!column.total) return begin_sample(family, labels);
    std::string with_part(labels);
    append_label(with_part, column.total->label, std::string_view(column.part));
    begin_sample(family, with_part);
  }

  PrometheusStyle style_;
  std::string out_;
  std::vector<size_t> rows_;         // of the table at hand
  std::vector<std::string> labels_;  // of each of rows_
  std::vector<std::pair<std::string_view, size_t>> left_out_;
};

}  // namespace

std::string render_prometheus(std::span<const Table* const> tables, const PrometheusStyle& style) {
  Page page(style);
  std::unordered_set<std::string_view> names;
  for (const Table* table : tables) {
    if (names.insert(table->name()).second)
      page.add(*table);
    else
      page.leave_out(*table);
  }
  return page.finish();
}

std::string prometheus_name(std::string_view table, const Field& column) {
  std::string name =
      family_name(table, column).append(column.role == Role::counter ? kTotal : std::string_view());
  return column.total ? fmt::format("{}{{{}=\"{}\"}}", name, column.total->label, column.part) : name;
}

std::string_view prometheus_label(std::string_view column) {
  if (column == "job") return "job_id";
  if (column == "instance") return "instance_id";
  return column;
}

}  // namespace spotter::render
