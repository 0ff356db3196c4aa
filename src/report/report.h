// The report: what a person is shown of a job when no table is asked for. One screen that he can act on: what
// was traced, what stands out, where device and host spent their time, and what was lost. It is data.
#pragma once
#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "report/section.h"

namespace spotter::report {

struct Report {
  std::vector<std::string> headline;  // what was traced, in a few words each
  std::vector<ShownSection> sections;
};

// Of a diagnosis with findings; `names`: how many kernels and operators are listed.
Report make_report(const diagnose::Diagnosis& diagnosis, size_t names);

// That number, by the user's parameters.
size_t names_listed(const ParamSettings& params);

// The table of findings as a section: sentences are too long for columns.
ShownSection findings_section(const Table& findings);

}  // namespace spotter::report
