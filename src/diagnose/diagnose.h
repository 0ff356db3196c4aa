// What stands out in a job: the findings of all rules, as a table.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "diagnose/job_facts.h"
#include "diagnose/search.h"
#include "table/table.h"

namespace spotter::diagnose {

inline constexpr const char* kFindings = "findings";  // the table's name

// `kind` is fault, opportunity or caveat.
std::span<const Field> finding_columns();

// Faults, opportunities and caveats, each by what they cost; empty where there is none.
// `paths`: the job's, as in a command.
Table findings(const JobFacts& facts, const JobModel& model, const std::vector<Found>& found,
               const std::string& paths);

// What the table is, and each mechanism and each rule with its threshold: name, meaning.
std::string findings_definition();
std::vector<std::pair<std::string, std::string>> rule_meanings();

}  // namespace spotter::diagnose
