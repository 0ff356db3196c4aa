#include "report/text.h"

#include "base/text/utf8.h"

namespace spotter::report {
namespace {

constexpr const char* kIndent = "  ";

class PartText {
 public:
  explicit PartText(const render::TextStyle& style) : style_(style) {}
  std::string operator()(const Points& points) const {
    std::string out;
    for (const Point& point : points) {
      out += linked("- " + point.text);
      if (!point.about.empty()) out += linked(kIndent + point.about);
    }
    return out;
  }
  std::string operator()(const Table& table) const { return render::render_text_table(table, style_); }
  std::string operator()(const Notes& notes) const { return render::render_text_notes(notes, style_); }
  std::string operator()(const Bars&) const { return {}; }
  std::string operator()(const HeatMap&) const { return {}; }

 private:
  std::string linked(const std::string& sentences) const {
    return style_.source_links.linked(render::wrapped(sentences, style_.width, kIndent)) + "\n";
  }

  const render::TextStyle& style_;
};

// On as few lines as hold them.
std::string headline_text(const std::vector<std::string>& parts, int width) {
  std::string lines, line;
  for (const std::string& part : parts) {
    if (line.empty()) {
      lines = line = part;
      continue;
    }
    line += " · " + part;
    const bool is_full = display_width(line) > width;
    if (is_full) line = "  · " + part;
    lines += (is_full ? "\n  · " : " · ") + part;
  }
  return lines + "\n";
}

}  // namespace

std::string section_text(const ShownSection& section, const render::TextStyle& style) {
  std::string out = render::bold(section.title, style) + "\n";
  for (const Part& part : section.parts) out += std::visit(PartText(style), part);
  if (!section.sentence.empty()) out += render::wrapped(section.sentence, style.width) + "\n";
  return out;
}

std::string report_text(const Report& report, const render::TextStyle& style) {
  std::string out = headline_text(report.headline, style.width) + "\n";
  for (const ShownSection& section : report.sections) out += section_text(section, style) + "\n";
  return out +
         render::wrapped(
             "More: --table NAME for one analysis whole (`spotter analyses` lists them), --format json or csv.",
             style.width, kIndent) +
         "\n";
}

}  // namespace spotter::report
