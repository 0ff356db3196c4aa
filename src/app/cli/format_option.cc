#include "app/cli/format_option.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "base/system/file.h"
#include "base/text/suggestion.h"
#include "base/text/utf8.h"
#include "render/list.h"
#include "report/html/format.h"

namespace spotter::app {
namespace {

std::vector<const render::Format*> offered(Formats formats) {
  std::vector<const render::Format*> offered;
  for (const render::Format* f : render::all_formats())
    if (!f->takes || formats == Formats::for_jobs) offered.push_back(f);
  if (formats == Formats::for_jobs) offered.push_back(&report::kHtml);
  return offered;
}

std::vector<std::string> names_of(const std::vector<const render::Format*>& formats) {
  std::vector<std::string> names;
  for (const render::Format* f : formats) names.emplace_back(f->name);
  return names;
}

template <Formats kFormats>
std::vector<std::string> offered_names() {
  return names_of(offered(kFormats));
}

std::string help_of(const std::vector<const render::Format*>& formats) {
  std::string help;
  for (const render::Format* f : formats) help += fmt::format("{} ({}), ", f->name, f->help);
  return help + "default: " + render::kText.name;
}

// ".csv" of "out/R.CSV"; empty where the name has none.
std::string ending_of(const std::string& path) {
  const std::string_view name = base_name(path);
  const size_t dot = name.rfind('.');
  return dot == name.npos || dot == 0 ? "" : ascii_lower(name.substr(dot));
}

}  // namespace

Option format_option(const render::Format*& format, Formats formats) {
  const std::vector<const render::Format*> choice = offered(formats);
  const auto find = [choice](const std::string& word) -> Result<const render::Format*> {
    const auto found = std::ranges::find(choice, word, &render::Format::name);
    if (found != choice.end()) return *found;
    return fail(Code::invalid, "there is no output format \"{}\"; there are {}", word,
                fmt::join(names_of(choice), ", "));
  };
  return {.names = {"--format"},
          .value = "NAME",
          .help = help_of(choice),
          .read = parsed(format, find),
          .offer = offer_words(formats == Formats::for_jobs ? offered_names<Formats::for_jobs>
                                                            : offered_names<Formats::for_all_tables>)};
}

Option output_option(std::string& path) {
  return {
      .names = {"-o", "--output"},
      .value = "FILE",
      .help =
          "write to this file, whole or not at all; - is standard output. Without --format its ending says "
          "the format: r.csv",
      .read = keep(path),
      .offer = offer_files()};
}

Result<const render::Format*> choose_format(const render::Format* named, const std::string& output,
                                            Formats formats) {
  const std::string ending = is_standard_output(output) ? "" : ending_of(output);
  const std::vector<const render::Format*> choice = offered(formats);
  if (ending.empty()) return named ? named : &render::kText;
  const auto has_ending = [&](const render::Format* f) { return ending == f->ending; };
  // Also one that is not offered: json in a file .svg is no help to anybody.
  const std::vector<const render::Format*> known = offered(Formats::for_jobs);
  const auto of_ending = std::ranges::find_if(known, has_ending);
  const bool is_known = of_ending != known.end();
  if (named && is_known && named != *of_ending)
    return fail(Code::invalid,
                "--format {} contradicts the ending of {}, which is that of {}; leave out one of them",
                named->name, base_name(output), (*of_ending)->name);
  if (named) return named;
  const auto found = std::ranges::find_if(choice, has_ending);
  if (found != choice.end()) return *found;
  std::vector<std::string_view> endings;
  for (const render::Format* f : choice) endings.emplace_back(f->ending);
  return fail(Code::invalid, "no output format has the ending {}; there are {}; or name one with --format",
              ending, fmt::join(endings, ", "));
}

}  // namespace spotter::app
