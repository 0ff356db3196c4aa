// What a page has to know of the job before it asks for tables, as tables of its own.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/run.h"
#include "table/table.h"
#include "trace/job.h"

namespace spotter::report {

using Facts = std::vector<std::pair<std::string, std::string>>;  // name, value

Table facts_table(const Facts& facts);

// One row: the job that the page is of.
Table jobs_table(const Job& job, const diagnose::Diagnosis& diagnosis, const std::string& title);

// The files of `diagnosis`, which may be redacted; `job` has them as they are, and knows more of each.
// `paths`: of the job's files, those of the diagnosis in its order.
Table ranks_table(const Job& job, std::span<const std::string> paths, const diagnose::Diagnosis& diagnosis);

// Every analysis with its definition and its parameters, and the findings.
Table analyses_table();

}  // namespace spotter::report
