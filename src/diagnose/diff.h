// What changed from one job to another: what takes its time, name by name, and why.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analyze/operators/trace_diff.h"
#include "diagnose/run.h"

namespace spotter::diagnose {

struct DiffRequest {
  analyze::RunRequest run = {};  // which part of both, and with what; analyses and parameters are its own
  analyze::DiffOptions how = {};
  bool by_path = false;    // modules and operators by what they are in, of all ranks
  bool by_shapes = false;  // with by_path: the shapes of the operands are part of a path
  bool findings = false;   // of both, and their critical paths
  bool causes = false;     // why, as sentences, which needs these
};

struct Diff {
  Table table;  // of analyze::trace_diff or path_diff
  std::vector<std::string> causes;
  Notes notes;              // of both, and what is different but the time where no cause tells it
  Diagnosis before, after;  // without their tables
};

// The causes, for programs.
inline constexpr const char* kCauses = "causes";
Table causes_table(std::span<const std::string> causes);

// Errors: those of run().
Result<Diff> diff(const Job& before, const Job& after, DiffRequest request, const Loader& load);

}  // namespace spotter::diagnose
