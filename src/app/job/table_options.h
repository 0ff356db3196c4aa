// Tables by name, and the parameters of analyses as flags: for the commands that have them made.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "app/cli/command.h"
#include "diagnose/run.h"
#include "table/row_query.h"

namespace spotter::app {

// Adds the analysis of that name, if it is not there yet; of findings, which are none, `names_findings` is
// set.
Result<void> add_table(const std::string& name, std::vector<const Analysis*>& analyses, bool& names_findings);

// The parameters of all analyses, each once.
std::vector<Param> all_params();

// As a flag that adds to the settings, which have to outlive the parse.
Option option_of(const Param& param, ParamSettings& settings);

// A parameter that none of the chosen tables has is a mistake. Errors: invalid.
Result<void> check_params(std::span<const Analysis* const> chosen, const ParamSettings& settings);

// Which rows and columns of the one table that is named.
std::vector<Option> row_options(table::RowQuery& query);
// Errors: invalid (no table is named, or several are).
Result<void> check_rows(const table::RowQuery& query, size_t named_tables);
// What rows are looked for among is all of them, where nothing else is said, and not those alone that an
// analysis lists.
void list_all(const table::RowQuery& query, std::span<const Analysis* const> analyses,
              ParamSettings& settings);
// Of the one table; findings become a table like others. Errors: invalid.
Result<void> choose_rows(const table::RowQuery& query, diagnose::Diagnosis& diagnosis);

}  // namespace spotter::app
