#include "report/html/elements.h"

#include <fmt/format.h>

#include <algorithm>

#include "render/json_text.h"
#include "render/render.h"
#include "report/html/escaped.h"

namespace spotter::report {
namespace {

constexpr int kMostNameCells = 120;  // of a name; its title has it whole

constexpr Field kTimeAtStake = {"time", Type::integer, Unit::ns, Role::value, ""};
constexpr Field kShareAtStake = {"share", Type::real, Unit::ratio, Role::value, ""};

std::string exact_text(const Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return std::string(*text);
  if (is_null(value)) return {};
  std::string out;
  render::append_json_value(out, value);
  return out;
}

std::string shown_text(const Value& value, const Field& field, std::optional<Ns> time_zero) {
  if (const auto* text = std::get_if<std::string_view>(&value))
    return field.is_whole ? std::string(*text) : render::short_name(*text, kMostNameCells);
  if (is_null(value)) return {};
  return render::human(render::shown_time(value, field, {.time_zero = time_zero}), field.unit, field.role);
}

bool is_text(const Field& field) { return field.type == Type::text || field.type == Type::flag; }

std::string column_title(const Field& field) {
  std::string title = field.name;
  for (const std::string_view end : {"_ns", "_bytes", "_ratio"})
    if (title.size() > end.size() && title.ends_with(end)) title.resize(title.size() - end.size());
  std::ranges::replace(title, '_', ' ');
  return title;
}

class PartHtml {
 public:
  PartHtml(const ShownSection& section, std::optional<Ns> time_zero)
      : section_(section), time_zero_(time_zero) {}
  std::string operator()(const Points& points) const { return points_html(points); }
  std::string operator()(const Table& table) const {
    const auto is_table = [](const Part& part) { return std::holds_alternative<Table>(part); };
    const bool is_only = std::ranges::count_if(section_.parts, is_table) == 1;
    const std::string own = column_title({table.name().c_str(), {}, {}, {}, ""});
    return table_html(table, is_only ? section_.title : section_.title + ": " + own, time_zero_);
  }
  std::string operator()(const Notes& notes) const { return notes_html(notes); }
  std::string operator()(const Bars& bars) const { return bars_html(bars, section_.name); }
  std::string operator()(const HeatMap& map) const { return heat_map_html(map); }

 private:
  const ShownSection& section_;
  const std::optional<Ns> time_zero_;
};

std::string about_html(const Point& point) {
  std::string out = html_escaped(point.about);
  const auto add = [&](const Value& value, const Field& field, std::string_view words) {
    if (!out.empty()) out += ", ";
    out += value_html("b", value, field, {}) + std::string(words);
  };
  if (point.time) add(*point.time, kTimeAtStake, " at stake");
  if (point.share) add(*point.share, kShareAtStake, " of a step");
  return out;
}

std::string finding_html(const Point& point) {
  std::string out = fmt::format(
      "<li class=\"finding {0}\"><p><b class=\"kind\">{0}</b> {1}</p>\n<p class=\"about\">{2}</p>\n",
      html_escaped(point.kind), html_escaped(point.text), about_html(point));
  if (!point.command.empty())
    out += fmt::format("<p class=\"evidence\">Evidence: <code>{}</code>", html_escaped(point.command));
  if (!point.command.empty() && !point.place.empty())
    out += fmt::format(" <a href=\"{}\">show it here</a>", html_escaped(point.place));
  if (!point.command.empty()) out += "</p>\n";
  return out + "</li>\n";
}

}  // namespace

std::string value_html(std::string_view element, const Value& value, const Field& field,
                       std::optional<Ns> time_zero, std::string_view attributes) {
  const std::string shown = shown_text(value, field, time_zero), exact = exact_text(value);
  std::string out = fmt::format("<{}{}{}", element, attributes.empty() ? "" : " ", attributes);
  if (shown != exact) out += fmt::format(" title=\"{}\"", html_escaped(exact));
  return out + fmt::format(">{}</{}>", html_escaped(shown), element);
}

std::string points_html(const Points& points) {
  if (points.empty()) return {};
  std::string out = "<ul class=\"points\">\n";
  for (const Point& point : points) {
    if (!point.kind.empty()) {
      out += finding_html(point);
      continue;
    }
    out += "<li>" + html_escaped(point.text);
    if (!point.place.empty()) out += fmt::format(" <a href=\"{}\">show it</a>", html_escaped(point.place));
    if (!point.about.empty()) out += fmt::format("<p class=\"about\">{}</p>", html_escaped(point.about));
    out += "</li>\n";
  }
  return out + "</ul>\n";
}

std::string table_html(const Table& table, std::string_view caption, std::optional<Ns> time_zero) {
  std::string out = fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table: {0}\"><table class=\"static\">\n"
      "<caption>{0}</caption>\n<thead><tr>",
      html_escaped(caption));
  for (const Field& field : table.schema())
    out += fmt::format("<th scope=\"col\"{}{}>{}</th>", is_text(field) ? "" : " class=\"number\"",
                       *field.help ? fmt::format(" title=\"{}\"", html_escaped(field.help)) : "",
                       html_escaped(column_title(field)));
  out += "</tr></thead>\n<tbody>\n";
  for (size_t row = 0; row < table.rows(); ++row) {
    out += "<tr>";
    for (size_t column = 0; column < table.columns(); ++column) {
      const Field& field = table.schema()[column];
      const bool is_heading = column == 0 && field.role == Role::key;
      const char* attributes = is_heading ? "scope=\"row\"" : is_text(field) ? "" : "class=\"number\"";
      out += value_html(is_heading ? "th" : "td", table.at(row, column), field, time_zero, attributes);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string notes_html(const Notes& notes) {
  if (notes.empty()) return {};
  std::string out = "<ul class=\"notes\">\n";
  for (const Note& note : notes.all())
    out += fmt::format("<li class=\"{0}\"><b class=\"kind\">{0}</b> {1}</li>\n", severity_name(note.severity),
                       html_escaped(to_text(note)));
  return out + "</ul>\n";
}

std::string section_html(const ShownSection& section, std::optional<Ns> time_zero, std::string_view heading) {
  std::string out =
      fmt::format("<section aria-labelledby=\"static-{0}\">\n<{2} id=\"static-{0}\">{1}</{2}>\n",
                  html_escaped(section.name), html_escaped(section.title), heading);
  for (const Part& part : section.parts) out += std::visit(PartHtml(section, time_zero), part);
  if (!section.sentence.empty())
    out += fmt::format("<p class=\"about\">{}</p>\n", html_escaped(section.sentence));
  return out + "</section>\n";
}

}  // namespace spotter::report
