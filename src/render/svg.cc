// SVG: tables of spans as pictures, one below the other. A span is a row with a position in time and a
// duration (the columns start_ns and dur_ns); its lane is what its keys say, its colour what the first column
// of text does. Spans that are too narrow to be seen one by one are drawn as one bar, which says how many
// they are.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/saturated.h"
#include "base/utf8.h"
#include "render/list.h"

namespace spotter::render {
namespace {

constexpr double kWidth = 1600, kLabels = 220, kRight = 16;
constexpr double kPlot = kWidth - kLabels - kRight;  // where time runs from left to right
constexpr double kLane = 20, kBar = 14, kHead = 56;
constexpr double kNarrow = 1;  // pixels
constexpr Ns kMostTicks = 12;
constexpr size_t kMostLanes = 500;  // the picture of more would be read by nobody

// Told apart also by people who do not see all colours (Okabe and Ito, 2008), then greys.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                    "#56b4e9", "#f0e442", "#666666", "#999999", "#bbbbbb"};

std::string escaped(std::string_view text) {
  std::string printable = to_printable(text);
  // XML has no U+FFFE and no U+FFFF: the last of their three bytes becomes that of U+FFFD.
  for (size_t at = 0; (at = printable.find("\xEF\xBF", at)) != printable.npos; at += 3)
    if (static_cast<u8>(printable[at + 2]) >= 0xBE) printable[at + 2] = '\xBD';
  std::string out;
  for (const char c : printable) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

struct Columns {
  size_t start, dur;
  std::optional<size_t> colour;
  std::vector<size_t> keys;
};

std::optional<Columns> columns_of(const Table& table) {
  std::optional<size_t> start, dur;
  Columns columns{};
  for (size_t c = 0; c < table.columns(); ++c) {
    const Field& field = table.schema()[c];
    const std::string_view name = field.name;
    if (name == "start_ns" && field.role == Role::time) start = c;
    if (name == "dur_ns") dur = c;
    if (field.role == Role::key) columns.keys.push_back(c);
    if (field.type == Type::text && field.role == Role::value && !columns.colour) columns.colour = c;
  }
  if (!start || !dur) return std::nullopt;
  columns.start = *start;
  columns.dur = *dur;
  return columns;
}

using Places = std::map<std::string, size_t>;

class Picture {
 public:
  // `colours`: places of words in kColours, the same in all pictures of a document.
  Picture(const Table& table, const Columns& columns, double top, Places& colours, std::string& out)
      : table_(table), columns_(columns), top_(top), colours_(colours), out_(out) {
    for (size_t row = 0; row < table.rows(); ++row) {
      const Ns start = table.integer(row, columns.start);
      start_ = std::min(start_, start);
      end_ = std::max(end_, add_saturated(start, table.integer(row, columns.dur)));
      if (lanes_.size() < kMostLanes) lanes_.try_emplace(lane_of(row), lanes_.size());
      used_colours_.insert(colours_.try_emplace(colour_of(row), colours_.size()).first->second);
    }
    if (table.rows() == 0) start_ = end_ = 0;
  }

  double height() const { return kHead + kLane * static_cast<double>(lanes_.size()) + kLane; }

  void draw() {
    text(8, top_ + 18, fmt::format("{}: {}", table_.name(), human_ns(whole())), "font-weight=\"bold\"");
    draw_legend();
    draw_axis();
    for (const auto& [lane, place] : lanes_) text(8, lane_top(place) + kBar - 2, lane);
    size_t left_out = 0;
    for (size_t row = 0; row < table_.rows(); ++row) left_out += add(row) ? 0 : 1;
    for (const auto& [lane, bar] : bars_) draw(bar);
    if (left_out > 0)
      text(kLabels, lane_top(lanes_.size()) + kBar,
           fmt::format("{} spans on further lines are left out", left_out));
  }

 private:
  struct Bar {
    double left = 0, right = 0;
    size_t lane = 0, colour = 0, row = 0, spans = 0;
  };

  std::string lane_of(size_t row) const {
    std::string lane;
    for (const size_t key : columns_.keys)
      lane += fmt::format("{}{} {}", lane.empty() ? "" : " ", table_.schema()[key].name, cell(row, key));
    return lane;
  }
  std::string colour_of(size_t row) const { return columns_.colour ? cell(row, *columns_.colour) : ""; }
  std::string cell(size_t row, size_t column) const {
    const Field& field = table_.schema()[column];
    return human(table_.at(row, column), field.unit, field.role);
  }
  Ns whole() const { return subtract_saturated(end_, start_); }  // files and hosts may be far apart
  double x_of(Ns time) const {
    return kLabels + kPlot * static_cast<double>(subtract_saturated(time, start_)) /
                         static_cast<double>(std::max<Ns>(1, whole()));
  }
  double lane_top(size_t place) const { return top_ + kHead + kLane * static_cast<double>(place); }
  static const char* colour(size_t i) { return kColours[std::min(i, std::size(kColours) - 1)]; }

  void text(double x, double y, std::string_view words, std::string_view style = "") {
    out_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" {}>{}</text>\n", x, y, style, escaped(words));
  }

  void draw_legend() {
    double x = kLabels;
    for (const size_t i : used_colours_) {
      if (x >= kWidth - 150) break;
      const auto is_i = [&](const auto& entry) { return entry.second == i; };
      const std::string& word = std::ranges::find_if(colours_, is_i)->first;
      if (word.empty()) continue;
      out_ += fmt::format("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n", x,
                          top_ + 9, colour(i));
      const std::string shown = short_name(word, 40);
      text(x + 14, top_ + 18, shown);
      x += 30 + 7 * static_cast<double>(display_width(shown));
    }
  }

  // Ticks at 1, 2 or 5 times a power of ten.
  void draw_axis() {
    const Ns last = std::max<Ns>(1, whole());
    Ns power = 1, lead = 1;
    while (last / (lead * power) > kMostTicks) {
      lead = lead == 1 ? 2 : lead == 2 ? 5 : 1;
      if (lead == 1) power *= 10;
    }
    const Ns step = lead * power;
    const double bottom = lane_top(lanes_.size());
    for (Ns at = 0; at <= last; at += step) {
      const double x = x_of(start_ + at);
      out_ +=
          fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.0f}\" y2=\"{2:.0f}\" stroke=\"#ddd\"/>\n",
                      x, top_ + kHead - 6, bottom);
      text(x, top_ + kHead - 10, human_ns(at), "text-anchor=\"middle\" fill=\"#666\"");
      if (at > last - step) break;
    }
  }

  // False: its lane is not in the picture.
  bool add(size_t row) {
    const auto lane = lanes_.find(lane_of(row));
    if (lane == lanes_.end()) return false;
    const Ns start = table_.integer(row, columns_.start), dur = table_.integer(row, columns_.dur);
    const Bar next{
        x_of(start), x_of(add_saturated(start, dur)), lane->second, colours_.at(colour_of(row)), row, 1};
    Bar& bar = bars_[next.lane];
    const bool is_narrow = next.right - next.left < kNarrow;
    const bool follows = bar.spans > 0 && next.left >= bar.left && next.left < bar.right + kNarrow;
    const bool is_in_its_pixel = next.right < bar.left + kNarrow;
    if (is_narrow && follows && (bar.colour == next.colour || is_in_its_pixel)) {
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
    out_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\"><title>{}</title></rect>\n",
        bar.left, lane_top(bar.lane), std::max(0.5, bar.right - bar.left), kBar, colour(bar.colour),
        escaped(title));
  }

  const Table& table_;
  const Columns& columns_;
  double top_;
  Places& colours_;
  std::string& out_;
  Ns start_ = std::numeric_limits<Ns>::max(), end_ = std::numeric_limits<Ns>::min();
  Places lanes_;  // by what they are called
  std::set<size_t> used_colours_;
  std::map<size_t, Bar> bars_;  // per lane, the one that may still grow
};

bool is_drawn(const Table& table) { return columns_of(table).has_value(); }

std::string render_svg(const Document& document, const TextStyle&) {
  std::string body;
  double top = 0;
  Places colours;
  for (const Table& table : document.tables) {
    const std::optional<Columns> columns = columns_of(table);
    if (!columns) continue;
    Picture picture(table, *columns, top, colours, body);
    picture.draw();
    top += picture.height();
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
             kWidth, top) +
         body + "</svg>\n";
}

}  // namespace

const Format kSvg = {.name = "svg",
                     .help = "a picture of a table of spans, such as timeline, steps and critical_path_edges",
                     .ending = ".svg",
                     .render = render_svg,
                     .takes = is_drawn};

}  // namespace spotter::render
