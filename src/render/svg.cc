// SVG: tables of spans as pictures, one below the other. A span is a row with a position in time and a
// duration (the columns start_ns and dur_ns); its lane is what its keys say, in a tree (the columns parent
// and depth) how deep it lies in its thread; its colour is what the first column of text says. Spans that are
// too narrow to be seen one by one are drawn as one bar, which says how many they are. Time runs alike in no
// two pictures: each says when it begins.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/saturated.h"
#include "base/stable_sort.h"
#include "base/text/utf8.h"
#include "render/list.h"
#include "render/svg_text.h"

namespace spotter::render {
namespace {

constexpr double kPlot = 1364;            // where time runs from left to right
constexpr double kEdge = 8, kRight = 48;  // the last tick's text is as wide on both sides of its line
constexpr double kLine = 18, kLane = 20, kBar = 14, kBox = 10;
constexpr double kNarrow = 1;  // pixels
constexpr Ns kMostTicks = 12;
constexpr size_t kMostLanes = 500;   // the picture of more would be read by nobody
constexpr size_t kMostColours = 24;  // in a legend: those that the most time is spent on
constexpr int kMostCells = 60;       // of a name; a title says it whole

struct Columns {
  size_t start, dur;
  std::optional<size_t> colour;
  std::vector<size_t> lane;
};

std::optional<size_t> find_column(const Table& table, std::string_view name) {
  for (size_t c = 0; c < table.columns(); ++c)
    if (name == table.schema()[c].name) return c;
  return std::nullopt;
}

std::optional<Columns> columns_of(const Table& table) {
  const std::optional<size_t> start = find_column(table, "start_ns"), dur = find_column(table, "dur_ns");
  if (!start || !dur || table.schema()[*start].role != Role::time) return std::nullopt;
  Columns columns{.start = *start, .dur = *dur, .colour = {}, .lane = {}};
  for (size_t c = 0; c < table.columns(); ++c) {
    const Field& field = table.schema()[c];
    if (field.role == Role::key) columns.lane.push_back(c);
    if (field.type == Type::text && field.role == Role::value && !columns.colour) columns.colour = c;
  }
  const std::optional<size_t> depth = find_column(table, "depth");
  if (!depth || !find_column(table, "parent")) return columns;
  columns.lane.pop_back();  // of a tree the last key tells the rows apart
  if (const auto thread = find_column(table, "thread")) columns.lane.push_back(*thread);
  columns.lane.push_back(*depth);
  return columns;
}

using Lane = std::vector<Value>;  // its cells, which point into the table

class Picture {
 public:
  Picture(const Table& table, const Columns& columns, const TextStyle& style)
      : table_(table), columns_(columns), style_(style) {
    for (size_t row = 0; row < table.rows(); ++row) {
      const Ns start = table.integer(row, columns.start), dur = table.integer(row, columns.dur);
      start_ = std::min(start_, start);
      end_ = std::max(end_, add_saturated(start, dur));
      lanes_.try_emplace(lane_of(row));
      Ns& time = time_of_[word_of(row)];
      time = add_saturated(time, dur);
    }
    size_t place = 0;
    for (auto& [lane, its_place] : lanes_) its_place = place++;
    for (const auto& [lane, its_place] : lanes_)
      if (its_place < kMostLanes)
        labels_ = std::max(labels_, svg_width(short_name(label_of(lane), kMostCells)));
  }

  double labels() const { return labels_; }  // pixels they need

  // At `top`, with `labels` pixels at the left; returns where it ends.
  double draw(double top, double labels, std::string& out) {
    out_ = &out;
    left_ = kEdge + labels + kEdge;
    double y = top + kLine;
    text(kEdge, y, heading(), "font-weight=\"bold\"");
    if (table_.rows() == 0) return y + kLine;
    y = draw_legend(y + kLine);
    lanes_top_ = y + kLine;
    draw_axis(y);
    const size_t shown = std::min(lanes_.size(), kMostLanes);
    for (const auto& [lane, place] : lanes_)
      if (place < shown) name(kEdge, lane_top(place) + kBar - 3, label_of(lane));
    size_t left_out = 0;
    for (size_t row = 0; row < table_.rows(); ++row) left_out += add(row) ? 0 : 1;
    for (const auto& [lane, bar] : bars_) draw(bar);
    if (left_out > 0)
      text(left_, lane_top(shown) + kBar - 3,
           fmt::format("{} spans on further lines are left out", left_out));
    return lane_top(shown + (left_out > 0 ? 1 : 0)) + kLine;
  }

 private:
  struct Bar {
    double left = 0, right = 0;
    size_t lane = 0, row = 0, spans = 0;
    std::string_view word;
  };

  Lane lane_of(size_t row) const {
    Lane lane;
    for (const size_t column : columns_.lane) lane.push_back(table_.at(row, column));
    return lane;
  }
  std::string label_of(const Lane& lane) const {
    std::string label;
    for (size_t i = 0; i < lane.size(); ++i) {
      const Field& field = table_.schema()[columns_.lane[i]];
      if (is_null(lane[i])) continue;
      label += fmt::format("{}{} {}", label.empty() ? "" : " ", field.name,
                           human(lane[i], field.unit, field.role));
    }
    return label.empty() ? table_.name() : label;
  }
  // Which says what colour a span has.
  std::string_view word_of(size_t row) const {
    return columns_.colour && !is_null(table_.at(row, *columns_.colour)) ? table_.text(row, *columns_.colour)
                                                                         : std::string_view(table_.name());
  }
  std::string cell(size_t row, size_t column) const {
    return human(shown_time(table_.at(row, column), table_.schema()[column], style_),
                 table_.schema()[column].unit, table_.schema()[column].role);
  }
  std::string heading() const {
    if (table_.rows() == 0) return table_.name() + ": no rows";
    const std::string from =
        human(shown_time(Value(start_), table_.schema()[columns_.start], style_), Unit::ns, Role::time);
    return fmt::format("{}: {} from {}{}", table_.name(), human_ns(whole()), from,
                       style_.time_zero ? " after the start of the job's first span" : "");
  }
  Ns whole() const { return subtract_saturated(end_, start_); }  // files and hosts may be far apart
  double x_of(Ns time) const {
    return left_ + kPlot * static_cast<double>(subtract_saturated(time, start_)) /
                       static_cast<double>(std::max<Ns>(1, whole()));
  }
  double lane_top(size_t place) const { return lanes_top_ + kLane * static_cast<double>(place); }

  void text(double x, double y, std::string_view words, std::string_view style = "",
            std::string_view title = "") {
    *out_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\"{}{}>{}{}</text>\n", x, y, style.empty() ? "" : " ",
                         style, title.empty() ? "" : fmt::format("<title>{}</title>", svg_escaped(title)),
                         svg_escaped(words));
  }
  // What it is called; how wide that is.
  double name(double x, double y, std::string_view words) {
    const std::string shown = short_name(words, kMostCells);
    text(x, y, shown, "", shown == words ? "" : words);
    return svg_width(shown);
  }

  // On as many lines as it takes; returns where it ends.
  double draw_legend(double y) {
    std::vector<std::pair<std::string_view, Ns>> words(time_of_.begin(), time_of_.end());
    stable_sort(words, [](const auto& a, const auto& b) { return a.second > b.second; });
    const size_t others = words.size() - std::min(words.size(), kMostColours);
    words.resize(words.size() - others);
    std::ranges::sort(words);
    constexpr double kGap = 4, kBetween = 16;
    double x = kEdge;
    const auto break_before = [&](double width) {
      if (x <= kEdge || x + width <= left_ + kPlot) return;
      x = kEdge;
      y += kLine;
    };
    for (const auto& [word, time] : words) {
      break_before(kBox + kGap + svg_width(short_name(word, kMostCells)));
      *out_ += fmt::format("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", x,
                           y - kBox + 1, kBox, kBox, svg_colour(word));
      x += kBox + kGap + name(x + kBox + kGap, y, word) + kBetween;
    }
    if (others > 0) {
      const std::string more = fmt::format("and {} more; each span has a title", others);
      break_before(svg_width(more));
      text(x, y, more);
    }
    return y + kLine;
  }

  // Ticks at 1, 2 or 5 times a power of ten; their texts at `y`.
  void draw_axis(double y) {
    const Ns last = std::max<Ns>(1, whole());
    Ns power = 1, lead = 1;
    while (last / (lead * power) > kMostTicks) {
      lead = lead == 1 ? 2 : lead == 2 ? 5 : 1;
      if (lead == 1) power *= 10;
    }
    const Ns step = lead * power;
    const double bottom = lane_top(std::min(lanes_.size(), kMostLanes));
    for (Ns at = 0; at <= last; at += step) {
      const double x = x_of(start_ + at);
      *out_ +=
          fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.0f}\" y2=\"{2:.0f}\" stroke=\"#ddd\"/>\n",
                      x, y + 4, bottom);
      text(x, y, human_ns(at), "text-anchor=\"middle\" fill=\"#666\"");
      if (at > last - step) break;
    }
  }

  // False: its lane is not in the picture.
  bool add(size_t row) {
    const size_t lane = lanes_.at(lane_of(row));
    if (lane >= kMostLanes) return false;
    const Ns start = table_.integer(row, columns_.start), dur = table_.integer(row, columns_.dur);
    const Bar next{x_of(start), x_of(add_saturated(start, dur)), lane, row, 1, word_of(row)};
    Bar& bar = bars_[lane];
    const bool is_narrow = next.right - next.left < kNarrow;
    const bool follows = bar.spans > 0 && next.left >= bar.left && next.left < bar.right + kNarrow;
    const bool is_in_its_pixel = next.right < bar.left + kNarrow;
    if (is_narrow && follows && (bar.word == next.word || is_in_its_pixel)) {
      bar.right = std::max(bar.right, next.right);
      ++bar.spans;
      return true;
    }
    draw(bar);
    bar = next;
    return true;
  }

  void draw(const Bar& bar) {
    if (bar.spans == 0) return;
    std::string title;
    if (bar.spans > 1) {
      title = fmt::format("{} spans", bar.spans);
    } else {
      for (size_t c = 0; c < table_.columns(); ++c) {
        if (!title.empty()) title += ", ";
        title += fmt::format("{}: {}", table_.schema()[c].name, cell(bar.row, c));
      }
    }
    *out_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\"><title>{}</title></rect>\n",
        bar.left, lane_top(bar.lane), std::max(0.5, bar.right - bar.left), kBar, svg_colour(bar.word),
        svg_escaped(title));
  }

  const Table& table_;
  const Columns columns_;
  const TextStyle& style_;
  std::string* out_ = nullptr;
  double labels_ = 0, left_ = 0, lanes_top_ = 0;
  Ns start_ = std::numeric_limits<Ns>::max(), end_ = std::numeric_limits<Ns>::min();
  std::map<Lane, size_t> lanes_;            // their places, from the top
  std::map<std::string_view, Ns> time_of_;  // of each colour's word: the sum of its durations
  std::map<size_t, Bar> bars_;              // per lane, the one that may still grow
};

bool is_drawn(const Table& table) { return columns_of(table).has_value(); }

std::string render_svg(const Document& document, const TextStyle& style) {
  std::vector<Picture> pictures;
  double labels = 0;
  for (const Table& table : document.tables) {
    const std::optional<Columns> columns = columns_of(table);
    if (!columns) continue;
    pictures.emplace_back(table, *columns, style);
    labels = std::max(labels, pictures.back().labels());
  }
  std::string body;
  double bottom = 0;
  for (Picture& picture : pictures) bottom = picture.draw(bottom, labels, body);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
             "font-family=\"{2}\" font-size=\"{3}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
             kEdge + labels + kEdge + kPlot + kRight, bottom, kSvgFont, kSvgFontSize) +
         body + "</svg>\n";
}

}  // namespace

const Format kSvg = {
    .name = "svg",
    .help = "a picture of a table of spans, such as timeline, steps, call_tree and critical_path_edges",
    .ending = ".svg",
    .render = render_svg,
    .needs_rows = true,
    .takes = is_drawn};

}  // namespace spotter::render
