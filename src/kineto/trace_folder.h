// Where libkineto lets a trace on demand be written. Since June 2026, so as of PyTorch 2.14, its path must
// begin with /tmp/, or with the directory that the process's own variable KINETO_ONDEMAND_TRACE_DIR names; of
// another one it says so in the job's log alone, and writes to its usual place.
#pragma once
#include <string>

#include "kineto/registry.h"

namespace spotter::kineto {

// A sentence, for a path that the process is asked to write to; empty: it does, as far as can be told.
std::string why_written_elsewhere(const Process& process, const std::string& path);

}  // namespace spotter::kineto
