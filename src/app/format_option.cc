#include "app/format_option.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace spotter::app {
namespace {

std::vector<const render::Format*> offered(Formats formats) {
  std::vector<const render::Format*> offered;
  for (const render::Format& f : render::all_formats())
    if (!f.takes || formats == Formats::for_some_tables) offered.push_back(&f);
  return offered;
}

std::string names_of(const std::vector<const render::Format*>& formats) {
  std::vector<std::string_view> names;
  for (const render::Format* f : formats) names.push_back(f->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string help_of(const std::vector<const render::Format*>& formats) {
  std::string help;
  for (const render::Format* f : formats) help += fmt::format("{} ({}), ", f->name, f->help);
  return help + "default: " + formats[0]->name;
}

}  // namespace

CLI::Option* add_format_option(CLI::App& app, const render::Format*& format, Formats formats) {
  const std::vector<const render::Format*> choice = offered(formats);
  return add_option(app, "--format", "NAME", help_of(choice),
                    [&format, choice](const std::string& word) -> Result<void> {
                      const auto found = std::ranges::find(choice, word, &render::Format::name);
                      if (found == choice.end())
                        return fail(Code::invalid, "there is no output format \"{}\"; there are {}", word,
                                    names_of(choice));
                      format = *found;
                      return {};
                    });
}

}  // namespace spotter::app
