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

// The same with all findings, more rows, pictures, and what the tables of the diagnosis say: for a page.
Report make_page_report(const diagnose::Diagnosis& diagnosis, size_t names, const PageRoom& room = {});

// That number, by the user's parameters; `usual`: where they do not say.
size_t names_listed(const ParamSettings& params, size_t usual = 6);

// The table of findings as a section: sentences are too long for columns.
ShownSection findings_section(const Table& findings);

}  // namespace spotter::report
