// A job as Python holds it: its files, and the words it was opened by.
#pragma once
#include <string>
#include <vector>

#include "trace/job.h"

namespace spotter::python {

struct HeldJob {
  std::vector<std::string> paths;
  Job job;
};

}  // namespace spotter::python
