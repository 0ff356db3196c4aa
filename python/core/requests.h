// What is asked for, as Python says it.
#pragma once
#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "analyze/run.h"

namespace spotter::python {

// Part of a job and how it is read: ranks "0,3-7" and steps "2-5" as on the command line, empty: all.
struct Part {
  std::string ranks, steps;
  int threads = 1;
  i64 memory_bytes = 0;  // 0: half of the machine
};

// Raises where a word is wrong.
analyze::RunRequest request_of(const Part& part);

// Tables by name, `findings` among them, and their parameters.
struct Asked {
  analyze::RunRequest run;
  bool names_findings = false;
};
Asked asked(const std::vector<std::string>& names, const nanobind::list& params, const Part& part,
            const std::string& compat);

}  // namespace spotter::python
