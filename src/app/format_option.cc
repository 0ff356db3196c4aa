#include "app/format_option.h"

#include <CLI/CLI.hpp>

namespace spotter {
namespace {

std::string format_names() {
  std::vector<std::string_view> names;
  for (const Format& f : all_formats()) names.push_back(f.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string format_help() {
  std::string help;
  for (const Format& f : all_formats()) help += fmt::format("{} ({}), ", f.name, f.help);
  return help + "default: " + all_formats()[0].name;
}

}  // namespace

void add_format_option(CLI::App& app, const Format*& format) {
  add_option(app, "--format", "NAME", format_help(), [&format](const std::string& word) -> Result<void> {
    const Format* found = find_format(word);
    if (!found)
      return fail(Code::invalid, "there is no output format \"{}\"; there are {}", word, format_names());
    format = found;
    return {};
  });
}

}  // namespace spotter
