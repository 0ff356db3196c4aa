// The part of a page that is there without script.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/version.h"
#include "report/html/elements.h"
#include "report/html/escaped.h"
#include "report/html/html_report.h"

namespace spotter::report {
namespace {

std::string moment_html(Ns start) {
  constexpr Ns kSecond = 1'000'000'000;
  const Ns seconds = start >= 0 ? start / kSecond : (start - kSecond + 1) / kSecond;
  return fmt::format("<dt>When</dt><dd title=\"{}\">{:%Y-%m-%d %H:%M:%S} UTC</dd>\n", start,
                     fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string header_html(const Report& report, const std::string& title, std::optional<Ns> start,
                        const std::string& command) {
  std::string out = fmt::format("<header>\n<h1>{}</h1>\n<ul class=\"headline\">\n", html_escaped(title));
  for (const std::string& part : report.headline) out += fmt::format("<li>{}</li>\n", html_escaped(part));
  out += "</ul>\n<dl class=\"facts\">\n";
  if (start) out += moment_html(*start);
  return out + fmt::format(
                   "<dt>Command</dt><dd><code>{}</code></dd>\n<dt>Made by</dt><dd>spotter {}</dd>\n</dl>\n"
                   "</header>\n",
                   html_escaped(command), html_escaped(kVersion));
}

}  // namespace

std::string static_html(const Report& report, const std::string& title, std::optional<Ns> start,
                        const std::string& command) {
  std::string out = header_html(report, title, start, command);
  for (const ShownSection& section : report.sections) out += section_html(section, start);
  return out +
         "<noscript><p class=\"about\">The timeline, all tables and the definitions of their numbers are in "
         "this file, too, and need a browser that runs its script.</p></noscript>\n";
}

}  // namespace spotter::report
