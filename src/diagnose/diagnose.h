// What stands out in a job: the findings of all rules, as a table.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "diagnose/job_facts.h"
#include "table/table.h"

namespace spotter::diagnose {

inline constexpr const char* kFindings = "findings";  // the table's name

// `kind` is cause or caveat.
std::span<const Field> finding_columns();

// Most telling first; empty where no rule finds anything.
Table findings(const JobFacts& facts);

// What the table is, and each rule with its threshold: name, meaning.
std::string findings_definition();
std::vector<std::pair<std::string, std::string>> rule_meanings();

}  // namespace spotter::diagnose
