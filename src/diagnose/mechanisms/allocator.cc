#include "diagnose/mechanisms/allocations.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

std::vector<Candidate> find_candidates(const JobModel& model) {
  std::optional<Allocations> found = allocations(model, false);
  if (!found) return {};
  Candidate& c = found->candidate;
  const bool is_one = c.ranks.size() == 1 || are_all(model, c.ranks);
  c.what = fmt::format(
      "{} {} device memory from the driver and {} it back within the steps, by {} (cudaMalloc, cudaFree): the allocator's cache is "
      "too small for what the step holds, and cudaFree waits for the device",
      who(model, c.ranks), is_one ? "takes" : "take", is_one ? "gives" : "give", found->calls);
  return {std::move(c)};
}

}  // namespace

const Mechanism kAllocator = {
    .name = "allocator",
    .summary =
        "Calls of the device's allocator (cudaMalloc, cudaFree, cuMem...) within steps other than the first. Where the device's memory is known to be full it is memory_pressure.",
    .remedy =
        "Hold less: a smaller batch, activation checkpointing, or PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True against "
        "fragmentation; see --table memory_at_peak.",
    .evidence = "--table memory_timeline",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
