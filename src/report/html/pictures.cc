// Pictures of a report as SVG: colours by class, with those of a light page as attributes for who has no
// style sheet. A kind is never told by its colour alone: the legend has the order of the bars, communication
// is hatched, and each piece has a title with its exact value.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "render/render.h"
#include "render/svg_text.h"
#include "report/html/elements.h"
#include "report/html/escaped.h"

namespace spotter::report {
namespace {

constexpr double kWidth = 960, kRowHeight = 22, kBarHeight = 16, kTextDrop = 12, kPad = 8;
constexpr double kLeastSeen = 0.2;     // pixels
constexpr double kLeastLabelled = 44;  // pixels of a piece that has room for its share
constexpr size_t kMostHeatRows = 64, kMostHeatColumns = 64;
constexpr int kMostLabelCells = 24;

// Okabe and Ito, Color Universal Design (2008), and what is read on them.
struct Paint {
  const char *kind, *fill, *label;
};
constexpr Paint kPaints[] = {
    {"compute", "#0072b2", "#fff"},  {"communication", "#d55e00", "#000"}, {"memory", "#e69f00", "#000"},
    {"operator", "#009e73", "#000"}, {"annotation", "#cc79a7", "#000"},    {"runtime", "#56b4e9", "#000"},
    {"idle", "#c9cdd1", "#000"},     {"other", "#767676", "#fff"},
};
const Paint& paint_of(std::string_view kind) {
  const auto found = std::ranges::find(kPaints, kind, &Paint::kind);
  return found != std::end(kPaints) ? *found : kPaints[std::size(kPaints) - 1];
}

std::string exact_value(i64 value, Unit unit) {
  return fmt::format("{} ({}{}{})", render::human(Value(value), unit, Role::value), value,
                     unit == Unit::none ? "" : " ", unit == Unit::none ? "" : unit_name(unit));
}

std::string svg_start(double width, double height, std::string_view label) {
  return fmt::format(
      "<svg class=\"picture\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\" font-size=\"12\">\n",
      width, height, html_escaped(label));
}

std::string text_at(double x, double y, std::string_view words, std::string_view attributes = {}) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}{}>{}</text>\n", x, y, attributes.empty() ? "" : " ",
                     attributes, html_escaped(words));
}

std::string figure(std::string_view title, const std::string& svg) {
  return fmt::format("<figure>\n<figcaption>{}</figcaption>\n{}</figure>\n", html_escaped(title), svg);
}

std::string bar_piece(double x, double y, double width, const Bars::Series& series, std::string_view hatch,
                      std::string_view title) {
  const auto rect = [&](std::string_view paint) {
    return fmt::format("<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{}\" {}", x, y, width,
                       kBarHeight, paint);
  };
  const std::string kind = html_escaped(series.kind);
  std::string out = rect(fmt::format("class=\"{}\" fill=\"{}\"><title>{}</title></rect>\n", kind,
                                     paint_of(series.kind).fill, html_escaped(title)));
  if (series.kind == "communication")
    out += rect(fmt::format("fill=\"url(#{})\" pointer-events=\"none\"/>\n", hatch));
  return out;
}

// On as many lines as it takes, from `y` on; moves `y` below it.
std::string bars_legend(const std::vector<Bars::Series>& series, std::string_view hatch, double& y) {
  std::string out;
  double x = kPad;
  for (const Bars::Series& each : series) {
    const double width = kBarHeight + 6 + render::svg_width(each.name) + 16;
    if (x + width > kWidth && x > kPad) {
      x = kPad;
      y += kRowHeight;
    }
    out += bar_piece(x, y, kBarHeight, each, hatch, each.name);
    out += text_at(x + kBarHeight + 6, y + kTextDrop, each.name);
    x += width;
  }
  y += kRowHeight + 4;
  return out;
}

i64 sum_of(const std::vector<i64>& values) { return std::accumulate(values.begin(), values.end(), i64{0}); }

// Only what any row has.
Bars without_empty(const Bars& bars) {
  Bars kept = bars;
  for (size_t i = bars.series.size(); i-- > 0;) {
    if (std::ranges::any_of(bars.rows, [i](const Bars::Row& row) { return row.values[i] > 0; })) continue;
    kept.series.erase(kept.series.begin() + static_cast<std::ptrdiff_t>(i));
    for (Bars::Row& row : kept.rows) row.values.erase(row.values.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return kept;
}

std::string bars_svg(const Bars& bars, std::string_view name) {
  const std::string hatch = fmt::format("static-hatch-{}", name);
  i64 longest = 1;
  double labels = 0, totals = 0;
  std::vector<std::string> names;
  for (const Bars::Row& row : bars.rows) {
    longest = std::max(longest, sum_of(row.values));
    names.push_back(render::short_name(row.label, kMostLabelCells));
    labels = std::max(labels, render::svg_width(names.back()));
    totals = std::max(totals, render::svg_width(render::human(sum_of(row.values), bars.unit, Role::value)));
  }
  const double left = kPad + labels + kPad, plot = kWidth - left - totals - 2 * kPad;
  double y = 4;
  std::string out = fmt::format(
      "<defs><pattern id=\"{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
      "<path d=\"M-1 1L1 -1M0 6L6 0M5 7L7 5\" stroke=\"#fff\" stroke-opacity=\"0.4\"/></pattern></defs>\n",
      hatch);
  out += bars_legend(bars.series, hatch, y);
  for (size_t i = 0; i < bars.rows.size(); ++i, y += kRowHeight) {
    const Bars::Row& row = bars.rows[i];
    const i64 total = sum_of(row.values);
    out += text_at(left - kPad, y + kTextDrop, names[i], "text-anchor=\"end\"");
    double x = left;
    for (size_t s = 0; s < row.values.size(); ++s) {
      if (row.values[s] <= 0) continue;
      const double width = plot * static_cast<double>(row.values[s]) / static_cast<double>(longest);
      const double from = std::exchange(x, x + width);
      if (width < kLeastSeen) continue;
      const double share = static_cast<double>(row.values[s]) / static_cast<double>(total);
      out += bar_piece(from, y, width, bars.series[s], hatch,
                       fmt::format("{}, {}: {}, {:.1f} %", row.label, bars.series[s].name,
                                   exact_value(row.values[s], bars.unit), 100 * share));
      if (width >= kLeastLabelled)
        out +=
            text_at(from + width / 2, y + kTextDrop, fmt::format("{:.0f} %", 100 * share),
                    fmt::format("text-anchor=\"middle\" pointer-events=\"none\" class=\"on-{}\" fill=\"{}\"",
                                html_escaped(bars.series[s].kind), paint_of(bars.series[s].kind).label));
    }
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"><title>{}</title>{}</text>\n", x + kPad,
                       y + kTextDrop, html_escaped(exact_value(total, bars.unit)),
                       html_escaped(render::human(total, bars.unit, Role::value)));
  }
  return svg_start(kWidth, y + 4, bars.title) + out + "</svg>\n";
}

// At most so many rows and columns: neighbours become one, which has the largest of their values.
HeatMap coarser(const HeatMap& map) {
  const auto group = [](size_t count, size_t most) { return (count + most - 1) / most; };
  const size_t by_row = std::max<size_t>(1, group(map.rows.size(), kMostHeatRows)),
               by_column = std::max<size_t>(1, group(map.columns.size(), kMostHeatColumns));
  if (by_row == 1 && by_column == 1) return map;
  HeatMap out = map;
  const auto join = [](const std::vector<std::string>& names, size_t by) {
    std::vector<std::string> joined;
    for (size_t i = 0; i < names.size(); i += by) {
      const size_t last = std::min(i + by, names.size()) - 1;
      joined.push_back(last == i ? names[i] : names[i] + "-" + names[last]);
    }
    return joined;
  };
  out.rows = join(map.rows, by_row);
  out.columns = join(map.columns, by_column);
  out.title += " (the longest of several in one)";
  out.cells.assign(out.rows.size() * out.columns.size(), std::nullopt);
  for (size_t row = 0; row < map.rows.size(); ++row)
    for (size_t column = 0; column < map.columns.size(); ++column) {
      auto& cell = out.cells[row / by_row * out.columns.size() + column / by_column];
      cell = std::max(cell, map.cells[row * map.columns.size() + column]);
    }
  return out;
}

// From 0 to 1: one that grows lighter evenly, for all eyes (after Nunez, Anderton and Renslow, 2018).
std::string heat_colour(double share) {
  struct Stop {
    double red, green, blue;
  };
  constexpr Stop kStops[] = {{0, 34, 78}, {65, 77, 107}, {124, 123, 120}, {188, 175, 111}, {254, 232, 56}};
  const double place = std::clamp(share, 0.0, 1.0) * (std::size(kStops) - 1);
  const auto at = std::min(static_cast<size_t>(place), std::size(kStops) - 2);
  const Stop &from = kStops[at], &to = kStops[at + 1];
  const auto mix = [part = place - static_cast<double>(at)](double a, double b) {
    return static_cast<int>(std::lround(a + (b - a) * part));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(from.red, to.red), mix(from.green, to.green),
                     mix(from.blue, to.blue));
}

struct HeatRange {
  i64 least = 0, most = 0;
  double share(i64 value) const {
    return most > least ? static_cast<double>(value - least) / static_cast<double>(most - least) : 0;
  }
};

std::string heat_scale(const HeatRange& range, Unit unit, double left, double y) {
  std::string out = text_at(left, y + kTextDrop, render::human(range.least, unit, Role::value));
  double x = left + render::svg_width(render::human(range.least, unit, Role::value)) + 6;
  constexpr int kSteps = 16;
  for (int i = 0; i < kSteps; ++i, x += 10)
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"12\" fill=\"{}\"/>\n", x, y + 1,
                       heat_colour(i / (kSteps - 1.0)));
  return out + text_at(x + 6, y + kTextDrop, render::human(range.most, unit, Role::value));
}

std::string heat_map_svg(const HeatMap& map) {
  HeatRange range;
  bool any = false;
  for (const auto& cell : map.cells) {
    if (!cell) continue;
    range =
        any ? HeatRange{std::min(range.least, *cell), std::max(range.most, *cell)} : HeatRange{*cell, *cell};
    any = true;
  }
  // Small differences look small.
  range.least = std::min(range.least, range.most - range.most / 5);
  double labels = render::svg_width(map.row_name), widest = 0;
  for (const std::string& name : map.rows) labels = std::max(labels, render::svg_width(name));
  for (const std::string& name : map.columns) widest = std::max(widest, render::svg_width(name));
  const double left = kPad + labels + kPad;
  const double wide = std::clamp((kWidth - left - kPad) / static_cast<double>(map.columns.size()), 4.0, 64.0);
  const double high = map.rows.size() > 16 ? 12 : kRowHeight;
  std::string out = heat_scale(range, map.unit, left, 2);
  double y = 2 + kRowHeight;
  out += text_at(left - kPad, y + kTextDrop, map.row_name, "text-anchor=\"end\" class=\"quiet\"");
  const auto every = static_cast<size_t>(std::ceil((widest + 6) / wide));
  for (size_t column = 0; column < map.columns.size(); column += every)
    out += text_at(left + wide * (static_cast<double>(column) + 0.5), y + kTextDrop, map.columns[column],
                   "text-anchor=\"middle\" class=\"quiet\"");
  y += kRowHeight;
  for (size_t row = 0; row < map.rows.size(); ++row, y += high) {
    out += text_at(left - kPad, y + high / 2 + 4, map.rows[row], "text-anchor=\"end\"");
    for (size_t column = 0; column < map.columns.size(); ++column) {
      const auto& cell = map.cells[row * map.columns.size() + column];
      if (!cell) continue;
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title>"
          "</rect>\n",
          left + wide * static_cast<double>(column), y, wide - 1, high - 1, heat_colour(range.share(*cell)),
          html_escaped(fmt::format("{} {}, {} {}: {}", map.row_name, map.rows[row], map.column_name,
                                   map.columns[column], exact_value(*cell, map.unit))));
    }
  }
  return svg_start(kWidth, y + 4, map.title) + out + "</svg>\n";
}

}  // namespace

std::string bars_html(const Bars& bars, std::string_view name) {
  if (bars.rows.empty()) return {};
  return figure(bars.title, bars_svg(without_empty(bars), name));
}

std::string heat_map_html(const HeatMap& map) {
  if (map.rows.empty() || map.columns.empty()) return {};
  const HeatMap shown = coarser(map);
  return figure(fmt::format("{} ({} by {})", shown.title, shown.row_name, shown.column_name),
                heat_map_svg(shown));
}

}  // namespace spotter::report
