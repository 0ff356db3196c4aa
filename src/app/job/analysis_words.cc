#include "app/job/analysis_words.h"

#include "analyze/list.h"

namespace spotter::app {

Option compat_option(const analyze::Compat*& to) {
  const auto names = [] {
    std::vector<std::string> all;
    for (const analyze::Compat* compat : analyze::all_compats()) all.emplace_back(compat->name);
    return all;
  };
  std::vector<std::string> tools;
  for (const analyze::Compat* compat : analyze::all_compats())
    tools.push_back(fmt::format("{} ({})", compat->name, compat->summary));
  const std::string help = fmt::format("to compare numbers with another tool: {}", fmt::join(tools, ", "));
  const auto read = [&to, names](const std::string& word) -> Result<void> {
    to = analyze::find_compat(word);
    if (to) return {};
    return fail(Code::invalid, "there is no tool \"{}\" to be compatible with; there are: {}", word,
                fmt::join(names(), ", "));
  };
  return {.names = {"--compat"}, .value = "TOOL", .help = help, .read = read, .offer = offer_words(names)};
}

}  // namespace spotter::app
