#include "requests.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "analyze/compat.h"
#include "analyze/list.h"
#include "analyze/range_text.h"
#include "base/text/suggestion.h"
#include "core.h"
#include "diagnose/diagnose.h"
#include "diagnose/run.h"
#include "failure.h"
#include "values.h"

namespace spotter::python {

namespace {

const Analysis* analysis_of(const std::string& name) {
  if (const Analysis* analysis = analyze::find_analysis(name)) return analysis;
  std::vector<std::string> names = {diagnose::kFindings};
  for (const Analysis* analysis : analyze::all_analyses()) names.emplace_back(analysis->name);
  raise({Code::invalid, fmt::format("there is no analysis \"{}\"{}", name,
                                    did_you_mean(name, names, "; spotter.analyses() lists them"))});
}

const analyze::Compat* compat_of(const std::string& name) {
  if (name.empty()) return nullptr;
  if (const analyze::Compat* compat = analyze::find_compat(name)) return compat;
  std::vector<std::string> names;
  for (const analyze::Compat* compat : analyze::all_compats()) names.emplace_back(compat->name);
  raise({Code::invalid, fmt::format("there is no tool \"{}\" to be compatible with; there are: {}", name,
                                    fmt::join(names, ", "))});
}

}  // namespace

analyze::RunRequest request_of(const Part& part) {
  analyze::RunRequest request;
  if (!part.ranks.empty()) request.ranks = value_of(analyze::parse_ranges(part.ranks));
  if (!part.steps.empty()) request.steps = value_of(analyze::parse_range(part.steps));
  request.threads = std::max(part.threads, 1);
  request.memory_bytes = part.memory_bytes;
  return request;
}

Asked asked(const std::vector<std::string>& names, const nb::list& params, const Part& part,
            const std::string& compat) {
  Asked asked{.run = request_of(part)};
  std::vector<const Analysis*>& analyses = asked.run.analyses;
  for (const std::string& name : names) {
    if (name == diagnose::kFindings)
      asked.names_findings = true;
    else if (const Analysis* analysis = analysis_of(name);
             std::ranges::find(analyses, analysis) == analyses.end())
      analyses.push_back(analysis);
  }
  asked.run.compat = compat_of(compat);
  analyses = analyze::stand_ins(asked.run.compat, analyses);
  for (const nb::handle param : params) {
    const auto name = nb::cast<std::string>(param[0]);
    ParamValue value;
    if (nb::isinstance<nb::str>(param[1]))
      value = nb::cast<std::string>(param[1]);
    else
      value = integer_in(param[1], name.c_str());
    asked.run.params.emplace_back(name, std::move(value));
  }
  value_of(analyze::check_request(asked.names_findings ? diagnose::with_facts(asked.run) : asked.run));
  return asked;
}

}  // namespace spotter::python
