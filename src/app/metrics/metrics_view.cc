#include "app/metrics/metrics_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text/utf8.h"
#include "table/metric.h"
#include "table/ops.h"

namespace spotter::app {
namespace {

constexpr Field kColumns[] = {
    {"metric", Type::text, Unit::none, Role::key, "Name; of a counter what it grows by a second."},
    {"of", Type::text, Unit::none, Role::key, "Of what."},
    {"now", Type::text, Unit::none, Role::value, "Newest value."},
    {"most", Type::text, Unit::none, Role::value, "Largest value of the time that is shown."},
    {"curve", Type::text, Unit::none, Role::value, "From the oldest to the newest sample."},
};

constexpr const char* kFirst[] = {"gpu_utilization_ratio",
                                  "gpu_power_watts",
                                  "gpu_memory_used_bytes",
                                  "gpu_temperature_celsius",
                                  "gpu_activity_sm_active_ratio",
                                  "gpu_activity_tensor_active_ratio",
                                  "gpu_activity_dram_active_ratio",
                                  "job_cpu_user_ns",
                                  "job_resident_bytes",
                                  "cgroup_cpu_throttled_ns",
                                  "cpu_user_ns",
                                  "cpu_system_ns",
                                  "cpu_iowait_ns",
                                  "cpu_running_threads",
                                  "memory_available_bytes",
                                  "pressure_some_ns",
                                  "disk_read_bytes",
                                  "disk_write_bytes",
                                  "disk_io_time_ns",
                                  "network_rx_bytes",
                                  "network_tx_bytes",
                                  "network_rx_drops",
                                  "rdma_rx_bytes",
                                  "rdma_tx_bytes",
                                  "agent_cpu_ns",
                                  "agent_resident_bytes"};

constexpr const char* kLevels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr size_t kLevelCount = std::size(kLevels);

double number_of(const Value& value) {
  if (const i64* whole = std::get_if<i64>(&value)) return static_cast<double>(*whole);
  if (const double* real = std::get_if<double>(&value)) return *real;
  return std::numeric_limits<double>::quiet_NaN();
}

using Columns = std::vector<size_t>;

Columns keys_of(const Table& table) {
  Columns keys;
  for (size_t c = 0; c < table.columns(); ++c) {
    if (table.schema()[c].role == Role::key) keys.push_back(c);
  }
  return keys;
}

// "eth0", "rank 3, job 77": a text stands for itself, a number needs its name.
std::string entity_of(const Table& table, size_t row, const Columns& keys) {
  std::string text;
  for (const size_t c : keys) {
    const Field& field = table.schema()[c];
    const Value value = table.at(row, c);
    if (is_null(value)) continue;
    const auto* word = std::get_if<std::string_view>(&value);
    text += fmt::format("{}{}", text.empty() ? "" : ", ",
                        word ? to_printable(*word)
                             : fmt::format("{} {}", field.name, render::human(value, Unit::none, Role::key)));
  }
  return text;
}

bool is_same_entity(const Table& table, size_t a, size_t b) {
  for (size_t c = 0; c < table.columns(); ++c) {
    if (table.schema()[c].role == Role::key && table.at(a, c) != table.at(b, c)) return false;
  }
  return true;
}

struct Fit {
  bool has_most;
  size_t cells;      // of a curve
  int least_metric;  // width of its column; lay_out() shortens no text further than 16
};
constexpr Fit kFits[] = {{true, 30, 99},  {false, 30, 99}, {false, 20, 99}, {false, 10, 99},
                         {false, 10, 24}, {false, 10, 16}, {false, 5, 16},  {false, 0, 0}};
enum Column : size_t { kMetric, kOf, kNow, kMost, kCurve };

int width_of(const Table& view, size_t column) {
  int width = display_width(view.schema()[column].name);
  for (size_t row = 0; row < view.rows(); ++row)
    width = std::max(width, display_width(view.text(row, column)));
  return width;
}

const Fit& fit_of(const Table& view, int width) {
  constexpr int kGap = 2;
  const int metric = width_of(view, kMetric), others = width_of(view, kOf) + width_of(view, kNow) + 2 * kGap;
  const auto fits = [&](const Fit& fit) {
    const int cells =
        fit.cells == 0 ? 0 : kGap + std::max(width_of(view, kCurve), static_cast<int>(fit.cells));
    const int most = fit.has_most ? kGap + width_of(view, kMost) : 0;
    return width <= 0 || std::min(metric, fit.least_metric) + others + most + cells <= width;
  };
  const auto it = std::ranges::find_if(kFits, fits);
  return it == std::end(kFits) ? std::end(kFits)[-1] : *it;
}

Table fitted_view(std::span<const Table> samples, int width, size_t most_things) {
  const Fit& fit = fit_of(metrics_view(samples, 0, most_things), width);
  const Table view = metrics_view(samples, fit.cells, most_things);
  std::vector<Field> fields;
  std::vector<size_t> from;
  for (size_t c = 0; c < view.columns(); ++c) {
    if ((c == kMost && !fit.has_most) || (c == kCurve && fit.cells == 0)) continue;
    fields.push_back(view.schema()[c]);
    from.push_back(c);
  }
  Table out(view.name(), fields);
  std::vector<Value> row(from.size());
  for (size_t r = 0; r < view.rows(); ++r) {
    for (size_t i = 0; i < from.size(); ++i) row[i] = view.at(r, from[i]);
    out.append(row);
  }
  return out;
}

bool is_shown(const Field& field) { return field.role == Role::value && field.type != Type::text; }

}  // namespace

std::vector<std::string> first_metrics() { return {std::begin(kFirst), std::end(kFirst)}; }

std::string curve(std::span<const double> values, size_t cells) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::isfinite(value) ? value : 0);
  std::string out;
  const size_t shown = std::min(cells, values.size());
  for (size_t i = 0; i < shown; ++i) {
    const size_t begin = i * values.size() / shown, end = (i + 1) * values.size() / shown;
    double sum = 0;
    size_t count = 0;
    for (size_t k = begin; k < end; ++k) {
      if (!std::isfinite(values[k])) continue;
      sum += std::max(values[k], 0.0);
      ++count;
    }
    const double share = count == 0 || most == 0 ? 0 : sum / static_cast<double>(count) / most;
    const auto level = static_cast<size_t>(std::lround(share * static_cast<double>(kLevelCount - 1)));
    out += count == 0 ? " " : kLevels[std::min(level, kLevelCount - 1)];
  }
  return out;
}

namespace {

// The rows of one thing, from the oldest to the newest.
struct Rows {
  size_t begin, end;
};

std::vector<Rows> things_of(const Table& table) {
  std::vector<Rows> things;
  for (size_t begin = 0, end = 0; begin < table.rows(); begin = end) {
    while (end < table.rows() && is_same_entity(table, begin, end)) ++end;
    things.push_back({begin, end});
  }
  return things;
}

std::vector<double> values_of(const Table& table, const Rows& rows, size_t column) {
  std::vector<double> values;
  for (size_t r = rows.begin; r < rows.end; ++r) values.push_back(number_of(table.at(r, column)));
  return values;
}

// Of those that are numbers; minus infinity where none is.
double most_of(std::span<const double> values) {
  double most = -std::numeric_limits<double>::infinity();
  for (const double value : values) most = std::isnan(value) ? most : std::max(most, value);
  return most;
}

class View {
 public:
  explicit View(size_t cells) : cells_(cells) {}

  void add_each(const Table& table, const Rows& rows) {
    const std::string entity = entity_of(table, rows.begin, keys_of(table));
    for (size_t c = 0; c < table.columns(); ++c) {
      if (is_shown(table.schema()[c]))
        add(table, c, entity,
            render::human(table.at(rows.end - 1, c), table.schema()[c].unit, table.schema()[c].role),
            values_of(table, rows, c));
    }
  }

  // The mean of all things at each time, counted from the newest.
  void add_together(const Table& table, std::span<const Rows> things) {
    const Columns keys = differing_keys(table, things);
    size_t longest = 0;
    for (const Rows& rows : things) longest = std::max(longest, rows.end - rows.begin);
    for (size_t c = 0; c < table.columns(); ++c) {
      const Field& field = table.schema()[c];
      if (!is_shown(field)) continue;
      std::vector<double> sums(longest), counts(longest);
      const Rows *least = nullptr, *most = nullptr;
      const auto newest = [&](const Rows* rows) { return number_of(table.at(rows->end - 1, c)); };
      for (const Rows& rows : things) {
        for (size_t back = 0; back < rows.end - rows.begin; ++back) {
          const double value = number_of(table.at(rows.end - 1 - back, c));
          if (std::isnan(value)) continue;
          sums[longest - 1 - back] += value;
          ++counts[longest - 1 - back];
        }
        if (std::isnan(newest(&rows))) continue;
        if (!least || newest(&rows) < newest(least)) least = &rows;
        if (!most || newest(&rows) > newest(most)) most = &rows;
      }
      for (size_t i = 0; i < longest; ++i)
        sums[i] = counts[i] > 0 ? sums[i] / counts[i] : std::numeric_limits<double>::quiet_NaN();
      if (!least) continue;
      const auto shown = [&](double value) { return render::human(Value(value), field.unit, field.role); };
      const std::string from = shown(newest(least)), to = shown(newest(most));
      const std::string of = from == to ? fmt::format("{} alike", things.size())
                                        : fmt::format("{}: {} ({}) to {} ({})", things.size(), from,
                                                      entity_of(table, least->begin, keys), to,
                                                      entity_of(table, most->begin, keys));
      add(table, c, of, shown(sums.back()), sums);
    }
  }

  void add_doubts(const Table& table, const Rows& rows) {
    const auto name = [](const Field& field) { return std::string_view(field.name); };
    const std::span<const Field> schema = table.schema();
    const auto quality = static_cast<size_t>(std::ranges::find(schema, "quality", name) - schema.begin());
    if (quality == table.columns() || is_null(table.at(rows.end - 1, quality))) return;
    view_.append({std::string_view(table::metric_name(table.name(), "quality")),
                  std::string_view(entity_of(table, rows.begin, keys_of(table))),
                  table.at(rows.end - 1, quality), std::string_view(), std::string_view()});
  }

  Table take() { return std::move(view_); }

 private:
  void add(const Table& table, size_t column, std::string_view of, std::string_view now,
           const std::vector<double>& values) {
    const Field& field = table.schema()[column];
    const double most = most_of(values);
    if (std::isinf(most)) return;  // nothing but nulls
    view_.append({std::string_view(table::metric_name(table.name(), field.name)), of, now,
                  std::string_view(render::human(Value(most), field.unit, field.role)),
                  std::string_view(curve(values, cells_))});
  }

  static Columns differing_keys(const Table& table, std::span<const Rows> things) {
    Columns keys = keys_of(table);
    std::erase_if(keys, [&](size_t c) {
      return std::ranges::all_of(things, [&](const Rows& rows) {
        return table.at(rows.begin, c) == table.at(things.front().begin, c);
      });
    });
    return keys;
  }

  Table view_{"metrics", kColumns};
  size_t cells_;
};

}  // namespace

Table metrics_view(std::span<const Table> samples, size_t cells, size_t most_things) {
  View view(cells);
  for (const Table& table : samples) {
    const std::vector<Rows> things = things_of(table);
    if (things.size() > most_things) {
      view.add_together(table, things);
    } else {
      for (const Rows& rows : things) view.add_each(table, rows);
    }
    for (const Rows& rows : things) view.add_doubts(table, rows);
  }
  return view.take();
}

std::string metrics_text(std::span<const Table> samples, const Notes& notes, const render::TextStyle& style,
                         const ViewSize& size) {
  const Table view = fitted_view(samples, style.width, size.most_things);
  const std::string below = render::render_text_notes(notes, style);
  if (view.rows() == 0)
    return render::wrapped("Nothing has been measured in the last minute that is looked at.", style.width) +
           "\n" + below;
  const auto text_of = [&](size_t rows) {
    std::string text = render::render_text_table(table::head(view, rows), style);
    if (view.rows() > rows)
      text += render::wrapped(fmt::format("and {} more; --metric PATTERN chooses", view.rows() - rows),
                              style.width) +
              "\n";
    return text + below;
  };
  size_t rows = std::clamp<size_t>(size.most_lines, 1, view.rows());
  std::string text = text_of(rows);
  for (;;) {
    const auto lines = static_cast<size_t>(std::ranges::count(text, '\n'));
    if (lines <= size.most_lines || rows <= 1) return text;
    rows -= std::min(rows - 1, lines - size.most_lines);
    text = text_of(rows);
  }
}

}  // namespace spotter::app
