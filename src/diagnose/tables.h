// The tables of a job as they are asked for by name: the findings and every analysis.
#pragma once
#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "base/result.h"
#include "diagnose/run.h"

namespace spotter::diagnose {

std::vector<std::string> table_names();

// Nullptr: the findings. Errors: invalid.
Result<const Analysis*> parse_table(const std::string& name);

// What a word sets a parameter to. Errors: invalid.
Result<ParamValue> parse_param(const Param& param, const std::string& word);

// All that a run was asked for, in the order in which programs are given it. They are taken out of it.
std::vector<Table> take_tables(Diagnosis& diagnosis);

}  // namespace spotter::diagnose
