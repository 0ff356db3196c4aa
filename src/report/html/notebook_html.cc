#include "report/html/notebook_html.h"

#include <fmt/format.h>

#include <algorithm>

#include "page/page.h"
#include "report/html/elements.h"
#include "report/html/escaped.h"
#include "report/report.h"

namespace spotter::report {
namespace {

// A notebook's file keeps every output of it.
constexpr PageRoom kRoom = {.findings = 20, .ranks = 16, .bars = 16};
constexpr size_t kMostNames = 50;

// A class, since there may be several in one page, with the weight of an id, which rules of others rarely
// have.
constexpr std::string_view kRoot = ":is(#spotter-report,.spotter-report)";

// What the page around says of the elements in it is undone: not by `revert`, which would also undo SVG's
// attributes. What is inherited is set anew, but for the colour and the kind of letters.
constexpr const char* kReset =
    "{0},{0} *,{0} ::before,{0} ::after{{all:revert-layer}}\n"
    "{0}{{font-size:14px;line-height:1.45;font-style:normal;font-weight:normal;text-align:start;text-indent:0;"
    "text-transform:none;letter-spacing:normal;word-spacing:normal;white-space:normal}}\n";

// The variables of the page in shades that are seen on light and on dark pages.
constexpr const char* kShades =
    "{0}{{margin:0;padding:4px 0;--text:currentColor;--muted:color-mix(in srgb,currentColor 75%,transparent);"
    "--loss:currentColor;--edge:rgba(128,128,128,.5);--grid:rgba(128,128,128,.25);--compute:#0072b2;"
    "--communication:#d55e00;--other:#808080}}\n"
    "{0} h3{{font-size:16px;margin:20px 0 6px}}\n"
    "{0} svg .idle{{fill:rgba(128,128,128,.35)}}\n";

std::string style_html() {
  std::string rules(page::static_style());
  for (size_t at = 0; (at = rules.find(page::kStaticRoot, at)) != rules.npos; at += kRoot.size())
    rules.replace(at, page::kStaticRoot.size(), kRoot);
  return "<style>\n" + fmt::format(fmt::runtime(kReset), kRoot) + rules +
         fmt::format(fmt::runtime(kShades), kRoot) + "</style>\n";
}

std::string rest_html(const diagnose::Diagnosis& diagnosis) {
  const size_t findings = diagnosis.findings->rows();
  std::string more;
  if (findings > kRoom.findings)
    more = fmt::format("{} more finding{}, a", findings - kRoom.findings,
                       findings - kRoom.findings == 1 ? "" : "s");
  return fmt::format(
      "<p class=\"about\">{} timeline, all tables and what their numbers mean: "
      "<code>.save(&quot;report.html&quot;)</code> of this report writes them as one page.</p>\n",
      more.empty() ? "A" : more);
}

}  // namespace

std::string notebook_html(const diagnose::Diagnosis& diagnosis, size_t names) {
  Report report = make_page_report(diagnosis, std::min(names, kMostNames), kRoom);
  std::string out = "<div class=\"spotter-report\">\n" + style_html() + "<ul class=\"headline\">\n";
  for (const std::string& part : report.headline) out += fmt::format("<li>{}</li>\n", html_escaped(part));
  out += "</ul>\n";
  for (ShownSection& section : report.sections) {
    // Ids are of all outputs of a notebook.
    section.name += fmt::format("-{}", diagnosis.start.value_or(0));
    for (Part& part : section.parts) {
      if (auto* points = std::get_if<Points>(&part))
        for (Point& point : *points) point.place.clear();  // it is in the page that this is not
    }
    out += section_html(section, diagnosis.start, "h3");
  }
  return out + rest_html(diagnosis) + "</div>\n";
}

}  // namespace spotter::report
