#include "diagnose/mechanisms/allocations.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

std::vector<Candidate> find_candidates(const JobModel& model) {
  std::optional<Allocations> found = allocations(model, true);
  if (!found) return {};
  Candidate& c = found->candidate;
  const bool is_one = c.ranks.size() == 1 || are_all(model, c.ranks);
  c.what = fmt::format(
      "{} {} up to {} of the device's memory and {} out of it: by {} (cudaFree, cudaMalloc) memory is given back to the driver, which waits for "
      "the device, and asked for anew",
      who(model, c.ranks), is_one ? "holds" : "hold", percent_of(found->held), is_one ? "runs" : "run",
      found->calls);
  return {std::move(c)};
}

}  // namespace

const Mechanism kMemoryPressure = {
    .name = "memory_pressure",
    .summary =
        "Calls of the device's allocator (cudaMalloc, cudaFree, cuMem...) within steps other than the first, of ranks that have 95 % of their device's memory reserved "
        "(memory events must be recorded): an allocation fails, cached blocks are freed and it is tried again. With memory to spare it is allocator; memory that is nearly full "
        "without such calls is a caveat, memory_limit.",
    .remedy =
        "Hold less: a smaller batch or more micro-batches, activation checkpointing, sharding (FSDP); see --table memory_at_peak. Against fragmentation "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
    .evidence = "--table memory_timeline",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
