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

Result<const Analysis*> parse_table(const std::string& name) {
  if (name == diagnose::kFindings) return nullptr;
  if (const Analysis* analysis = analyze::find_analysis(name)) return analysis;
  return fail(Code::invalid, "there is no analysis \"{}\"{}", name,
              did_you_mean(name, table_names(), "; `spotter analyses` lists them"));
}

}  // namespace spotter::app
