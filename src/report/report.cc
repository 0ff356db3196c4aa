#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "analyze/top.h"
#include "base/result.h"
#include "report/headline.h"
#include "report/list.h"

namespace spotter::report {

Report make_report(const diagnose::Diagnosis& diagnosis, size_t names) {
  CHECK(diagnosis.findings);
  const Subject subject = {diagnosis.facts, *diagnosis.findings,
                           diagnosis.what_if ? &*diagnosis.what_if : nullptr, names};
  Report report{.headline = headline(diagnosis.facts), .sections = {}};
  for (const Section* section : all_sections()) {
    if (section->is_shown(subject))
      report.sections.push_back(
          {section->name, section->title(subject), section->parts(subject), section->sentence});
  }
  return report;
}

size_t names_listed(const ParamSettings& params) {
  constexpr size_t kUsual = 6;
  size_t names = kUsual;
  for (const auto& [name, value] : params) {
    if (name != analyze::kTop.name) continue;
    const auto top = static_cast<size_t>(std::get<i64>(value));
    names = top == 0 ? std::numeric_limits<size_t>::max() : top;
  }
  return names;
}

}  // namespace spotter::report
