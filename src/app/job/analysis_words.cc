#include "app/job/analysis_words.h"

#include "analyze/list.h"
#include "base/suggestion.h"
#include "diagnose/diagnose.h"

namespace spotter::app {

std::vector<std::string> table_names() {
  std::vector<std::string> names = {diagnose::kFindings};
  for (const Analysis* analysis : analyze::all_analyses()) names.emplace_back(analysis->name);
  return names;
}

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

Result<const Analysis*> parse_table(const std::string& name) {
  if (name == diagnose::kFindings) return nullptr;
  if (const Analysis* analysis = analyze::find_analysis(name)) return analysis;
  return fail(Code::invalid, "there is no analysis \"{}\"{}", name,
              did_you_mean(name, table_names(), "; `spotter analyses` lists them"));
}

}  // namespace spotter::app
