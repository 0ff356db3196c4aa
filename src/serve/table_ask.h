// What is asked of a job, read from an address: one table with its parameters, of a part of the job.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analyze/run.h"
#include "serve/body.h"
#include "serve/job.h"
#include "wire/target.h"

namespace spotter::serve {

struct TableAsk {
  const Analysis* analysis = nullptr;  // none: the findings
  analyze::RunRequest run = {};        // ranks, steps, params and compat of it; analyses has that analysis
  std::optional<double> sensitivity = {};
  bool is_usual = true;  // nothing is set but ranks and steps
};

// Parameters are called as the command line's, with underscores for dashes. Errors: invalid, not_found (there
// is no such table).
Result<TableAsk> read_table_ask(const std::string& name, const wire::Target& target);

// ranks= and steps=.
Result<void> read_part(const wire::Target& target, analyze::RunRequest& run);
std::string part_key(const analyze::RunRequest& run);  // equal for what is equal

// Equal for equal answers, and the base of their ETag.
std::string key_of(const FoundJob& job, const TableAsk& ask, Form form);

}  // namespace spotter::serve
