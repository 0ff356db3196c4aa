#include "sink/otlp_encoder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "base/text/utf8.h"
#include "base/version.h"
#include "render/prometheus.h"
#include "sink/protobuf.h"
#include "sink/semantic_names.h"
#include "table/metric.h"
#include "table/named_samples.h"

namespace spotter::sink {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kNsInSecond = 1e9;
constexpr size_t kMostText = 256;  // bytes of an attribute
constexpr std::string_view kHardwareId = "hw.id";

// Numbers of fields, by message.
namespace request {
constexpr u32 kResourceMetrics = 1;
}
namespace resource_metrics {
constexpr u32 kResource = 1, kScopeMetrics = 2;
}
namespace resource {
constexpr u32 kAttributes = 1;
}
namespace scope_metrics {
constexpr u32 kScope = 1, kMetrics = 2;
}
namespace scope {
constexpr u32 kName = 1, kVersion = 2;
}
namespace metric {
constexpr u32 kName = 1, kDescription = 2, kUnit = 3, kGauge = 5, kSum = 7;
}
namespace data {
constexpr u32 kPoints = 1, kTemporality = 2, kIsMonotonic = 3;
}  // namespace data
namespace point {
constexpr u32 kStart = 2, kTime = 3, kDouble = 4, kInteger = 6, kAttributes = 7;
}
namespace key_value {
constexpr u32 kKey = 1, kValue = 2;
}
namespace any_value {
constexpr u32 kText = 1, kFlag = 2, kInteger = 3, kDouble = 4;
}
constexpr u64 kCumulative = 2;  // AggregationTemporality

const char* ucum(Unit unit) {
  switch (unit) {
    case Unit::none:
      return "";
    case Unit::ns:
      return "s";
    case Unit::bytes:
      return "By";
    case Unit::ratio:
      return "1";
    case Unit::count:
      return "{count}";
    case Unit::bytes_per_s:
      return "By/s";
    case Unit::celsius:
      return "Cel";
    case Unit::watts:
      return "W";
    case Unit::joules:
      return "J";
    case Unit::hertz:
      return "Hz";
    case Unit::per_s:
      return "{count}/s";
  }
  return "";
}

// The name of a column in our own namespace.
std::string own_name(const Table& table, const Field& field) {
  std::string_view column = field.name;
  if (field.unit == Unit::ns && column.ends_with("_ns")) column.remove_suffix(3);
  return fmt::format("spotter.{}.{}", table.name(), column);
}

void write_text(ProtobufWriter& out, u32 field, std::string_view text) {
  if (text.size() > kMostText) text = text.substr(0, kMostText);
  out.text(field, is_valid_utf8(text) ? std::string(text) : to_valid_utf8(text));
}

void write_attribute(ProtobufWriter& out, u32 field, std::string_view key, const Value& value) {
  out.message(field, [&] {
    out.text(key_value::kKey, key);
    out.message(key_value::kValue, [&] {
      if (const auto* text = std::get_if<std::string_view>(&value)) write_text(out, any_value::kText, *text);
      if (const i64* whole = std::get_if<i64>(&value))
        out.integer(any_value::kInteger, static_cast<u64>(*whole));
      if (const double* real = std::get_if<double>(&value)) out.real(any_value::kDouble, *real);
      if (const bool* flag = std::get_if<bool>(&value)) out.flag(any_value::kFlag, *flag);
    });
  });
}

// A number that a point can have.
using Number = std::variant<i64, double>;

std::optional<Number> number(const Value& value, Unit unit) {
  if (const i64* whole = std::get_if<i64>(&value)) {
    if (unit == Unit::ns) return static_cast<double>(*whole) / kNsInSecond;
    return *whole;
  }
  if (const bool* flag = std::get_if<bool>(&value)) return i64{*flag};
  const double* real = std::get_if<double>(&value);
  if (!real || !std::isfinite(*real)) return std::nullopt;
  return unit == Unit::ns ? *real / kNsInSecond : *real;
}

double as_real(const Value& value) {
  if (const i64* whole = std::get_if<i64>(&value)) return static_cast<double>(*whole);
  const double* real = std::get_if<double>(&value);
  return real ? *real : kNan;
}

// One table on its way out.
class TableWriter {
 public:
  TableWriter(const Table& table, const Batch& batch, Ns boot, Ns agent_start, CounterStarts& starts,
              ProtobufWriter& out)
      : table_(table), time_(batch.unix_ns), boot_(boot), agent_start_(agent_start), out_(out) {
    read_attributes();
    read_starts(batch.by, starts);
  }

  void write() {
    if (table::has_named_samples(table_)) return write_named();
    for (size_t c = 0; c < table_.columns(); ++c) {
      const Field& field = table_.schema()[c];
      if (!table::is_numeric_metric(field)) continue;
      const bool is_counter = field.role == Role::counter;
      ProtobufWriter points;
      for (size_t row = 0; row < table_.rows(); ++row) {
        if (const auto value = number(table_.at(row, c), field.unit))
          write_point(points, *value, start(row, c), own_[row], is_counter ? nullptr : &own_users_[row], {});
      }
      write_metric(own_name(table_, field), field.help, ucum(field.unit),
                   is_counter ? Instrument::counter : Instrument::gauge, points.bytes());
    }
    const std::span<const SemanticName> names = semantic_names();
    for (size_t i = 0; i < names.size();) {
      size_t end = i + 1;
      while (end < names.size() && is_same_metric(names[i], names[end])) ++end;
      if (table_.name() == names[i].table) write_semantic(names.subspan(i, end - i));
      i = end;
    }
  }

 private:
  static bool is_same_metric(const SemanticName& a, const SemanticName& b) {
    return std::string_view(a.table) == b.table && std::string_view(a.name) == b.name;
  }

  // Under their own names; parts of histograms and summaries as sums of their own. Labels that back ends like
  // Prometheus take from the resource are renamed as Prometheus renames them when it scrapes.
  void write_named() {
    std::map<std::string_view, std::vector<size_t>> rows;  // by metric
    for (size_t row = 0; row < table_.rows(); ++row) rows[table_.text(row, table::kMetric)].push_back(row);
    for (const auto& [name, own] : rows) {
      const bool is_total = !is_null(table_.at(own[0], table::kTotal));
      ProtobufWriter points;
      for (const size_t row : own) {
        ProtobufWriter labels;
        for (const auto& [key, value] : table::parse_labels(table::named_text(table_, row, table::kLabels))) {
          const bool is_taken = render::prometheus_label(key) != key;
          write_attribute(labels, point::kAttributes, (is_taken ? "exported_" : "") + std::string(key),
                          std::string_view(value));
        }
        if (const auto value = number(table_.at(row, is_total ? table::kTotal : table::kValue), Unit::none))
          write_point(points, *value, is_total ? start(row, table::kTotal) : 0, labels, nullptr, {});
      }
      write_metric(name, table::named_text(table_, own[0], table::kHelp), "",
                   is_total ? Instrument::counter : Instrument::gauge, points.bytes());
    }
  }

  // What the rows are about, as fields of their points.
  void read_attributes() {
    const size_t rows = table_.rows();
    for (auto* fields : {&own_, &semantic_, &own_users_, &semantic_users_}) fields->resize(rows);
    has_hardware_id_.resize(rows);
    for (size_t c = 0; c < table_.columns(); ++c) {
      const Field& field = table_.schema()[c];
      const bool is_key = field.role == Role::key;
      if (!is_key && field.role != Role::detail) continue;
      const AttributeName* known = find_attribute(table_.name(), field.name);
      const bool is_user = !is_key && known && known->is_user;
      for (size_t row = 0; row < rows; ++row) {
        const Value value = table_.at(row, c);
        if (is_null(value)) continue;
        if (known)
          write_attribute((is_user ? semantic_users_ : semantic_)[row], point::kAttributes, known->name,
                          value);
        if (known && known->name == kHardwareId) has_hardware_id_[row] = true;
        if (is_key) {
          write_attribute(own_[row], point::kAttributes, key_name(field), value);
        } else if (known) {
          write_attribute((is_user ? own_users_ : own_)[row], point::kAttributes, known->name, value);
        }
      }
    }
  }

  // Back ends like Prometheus take the labels that it has on every series from the resource.
  static std::string key_name(const Field& field) {
    return render::prometheus_label(field.name) == field.name ? field.name
                                                              : fmt::format("spotter.{}", field.name);
  }

  void read_starts(const std::string& by, CounterStarts& starts) {
    std::vector<Ns> beginnings;
    for (size_t c = 0; c < table_.columns(); ++c) {
      const Field& field = table_.schema()[c];
      if (field.role != Role::counter) continue;
      counters_.push_back(c);
      beginnings.push_back(field.since == Since::agent ? agent_start_ : boot_);
    }
    starts.begin(by, table_.name(), time_, std::move(beginnings));
    std::vector<double> values;
    for (size_t row = 0; row < table_.rows(); ++row) {
      values.clear();
      for (const size_t c : counters_) values.push_back(as_real(table_.at(row, c)));
      const std::span<const Ns> begun = starts.of_row(key(row), values);
      starts_.insert(starts_.end(), begun.begin(), begun.end());
    }
    starts.end();
  }

  std::string key(size_t row) const {
    std::string key;
    for (size_t c = 0; c < table_.columns(); ++c) {
      if (table_.schema()[c].role != Role::key) continue;
      const Value value = table_.at(row, c);
      if (const auto* text = std::get_if<std::string_view>(&value)) {
        fmt::format_to(std::back_inserter(key), "{}:{}", text->size(), *text);
      } else {
        fmt::format_to(std::back_inserter(key), "{};", as_real(value));
      }
    }
    return key;
  }

  // Since when a cell counts; what is no counter: no time.
  Ns start(size_t row, size_t column) const {
    const auto at = std::ranges::find(counters_, column);
    if (at == counters_.end()) return 0;
    return starts_[row * counters_.size() + static_cast<size_t>(at - counters_.begin())];
  }

  void write_point(ProtobufWriter& points, const Number& value, Ns start, const ProtobufWriter& attributes,
                   const ProtobufWriter* users, std::span<const FixedAttribute> more) const {
    points.message(data::kPoints, [&] {
      points.append(attributes.bytes());
      if (users) points.append(users->bytes());
      for (const FixedAttribute& attribute : more) {
        if (attribute.key)
          write_attribute(points, point::kAttributes, attribute.key, std::string_view(attribute.value));
      }
      if (start > 0) points.fixed(point::kStart, static_cast<u64>(start));
      points.fixed(point::kTime, static_cast<u64>(time_));
      if (const i64* whole = std::get_if<i64>(&value)) {
        points.fixed(point::kInteger, static_cast<u64>(*whole));
      } else {
        points.real(point::kDouble, std::get<double>(value));
      }
    });
  }

  void write_metric(std::string_view name, std::string_view help, std::string_view unit,
                    Instrument instrument, std::string_view points) {
    if (points.empty()) return;
    out_.message(scope_metrics::kMetrics, [&] {
      out_.text(metric::kName, name);
      if (!help.empty()) out_.text(metric::kDescription, help);
      if (!unit.empty()) out_.text(metric::kUnit, unit);
      if (instrument == Instrument::gauge) return out_.message(metric::kGauge, [&] { out_.append(points); });
      out_.message(metric::kSum, [&] {
        out_.append(points);
        out_.integer(data::kTemporality, kCumulative);
        if (instrument == Instrument::counter) out_.flag(data::kIsMonotonic, true);
      });
    });
  }

  std::optional<size_t> find_column(const char* name) const {
    for (size_t c = 0; c < table_.columns(); ++c) {
      if (std::string_view(table_.schema()[c].name) == name) return c;
    }
    return std::nullopt;
  }

  // The entries of one metric.
  void write_semantic(std::span<const SemanticName> names) {
    ProtobufWriter points;
    for (const SemanticName& name : names) {
      const auto c = find_column(name.column);
      if (!c) continue;
      const Unit unit = table_.schema()[*c].unit;
      for (size_t row = 0; row < table_.rows(); ++row) {
        auto value = number(table_.at(row, *c), unit);
        for (const char* less : name.less) value = value && less ? difference(*value, row, less) : value;
        if (value && name.of) value = part(*value, row, name.of);
        const bool lacks_id = std::string_view(name.name).starts_with("hw.") && !has_hardware_id_[row];
        if (!value || lacks_id) continue;
        const Ns begun =
            name.instrument == Instrument::updown_counter ? std::min(boot_, time_) : start(row, *c);
        const bool is_gauge = name.instrument == Instrument::gauge;
        write_point(points, *value, begun, semantic_[row], is_gauge ? &semantic_users_[row] : nullptr,
                    name.attributes);
      }
    }
    const auto c = find_column(names[0].column);
    const bool is_column = names.size() == 1 && !names[0].of;
    const char* help = is_column && c ? table_.schema()[*c].help : "";
    write_metric(names[0].name, help, names[0].unit, names[0].instrument, points.bytes());
  }

  // Of whole numbers.
  std::optional<Number> difference(const Number& value, size_t row, const char* column) const {
    const auto c = find_column(column);
    const Value other = c ? table_.at(row, *c) : Value();
    const i64* whole = std::get_if<i64>(&value);
    const i64* less = std::get_if<i64>(&other);
    i64 left = 0;
    if (!whole || !less || __builtin_sub_overflow(*whole, *less, &left)) return std::nullopt;
    return Number(std::max<i64>(left, 0));
  }

  // Of whole numbers.
  std::optional<Number> part(const Number& value, size_t row, const char* column) const {
    const auto c = find_column(column);
    const Value other = c ? table_.at(row, *c) : Value();
    const i64* part = std::get_if<i64>(&value);
    const i64* whole = std::get_if<i64>(&other);
    if (!part || !whole || *whole <= 0) return std::nullopt;
    return Number(static_cast<double>(*part) / static_cast<double>(*whole));
  }

  const Table& table_;
  Ns time_, boot_, agent_start_;
  ProtobufWriter& out_;
  std::vector<ProtobufWriter> own_, semantic_;  // fields of points, by row
  // By row, and of gauges alone: a sum with the next user's name would be a new one that has it all, since
  // its start, and that of the last user would stay behind.
  std::vector<ProtobufWriter> own_users_, semantic_users_;
  std::vector<bool> has_hardware_id_;  // by row; the conventions require it of all that is hw.*
  std::vector<size_t> counters_;       // columns
  std::vector<Ns> starts_;             // by row and counter
};

}  // namespace

OtlpEncoder::OtlpEncoder(const Attributes& attributes, Ns boot, Ns agent_start)
    : boot_(boot), agent_start_(agent_start) {
  ProtobufWriter out;
  out.message(resource_metrics::kResource, [&] {
    for (const auto& [key, value] : attributes)
      write_attribute(out, resource::kAttributes, key, std::string_view(value));
  });
  resource_ = out.take();
}

std::string OtlpEncoder::encode(const Share& share) {
  ProtobufWriter metrics;
  for (const Table* table : share.tables) {
    if (!table->is_events) TableWriter(*table, *share.batch, boot_, agent_start_, starts_, metrics).write();
  }
  ProtobufWriter out;
  if (metrics.bytes().empty()) return {};
  out.message(request::kResourceMetrics, [&] {
    out.append(resource_);
    out.message(resource_metrics::kScopeMetrics, [&] {
      out.message(scope_metrics::kScope, [&] {
        out.text(scope::kName, "spotter");
        out.text(scope::kVersion, kVersion);
      });
      out.append(metrics.bytes());
    });
  });
  return out.take();
}

}  // namespace spotter::sink
