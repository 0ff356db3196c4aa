// WorkKinds: the device work of a step by what does the same on every rank: kernels of one name, grid and
// block, copies and sets of one name and size. Communication is left out.
#pragma once
#include <unordered_map>
#include <vector>

#include "analyze/replay/skeleton.h"
#include "trace/trace.h"

namespace spotter::analyze {

class WorkKinds {
 public:
  // Reads Arg::grid, block and bytes.
  explicit WorkKinds(const Trace& trace) : trace_(trace) {}
  void add(EventId e);
  // A row for each kind of some weight, the most time first; then all is forgotten.
  void write_step(Skeleton& skeleton);

 private:
  struct Kind {
    u64 kind = 0;
    StringId name = 0;
    Cause cause = Cause::none;
    i64 count = 0;
    Ns sum = 0;
  };
  u64 kind_of(EventId e);

  const Trace& trace_;
  std::unordered_map<StringId, u64> hash_of_name_;
  std::unordered_map<u64, size_t> place_;
  std::vector<Kind> kinds_;
};

}  // namespace spotter::analyze
