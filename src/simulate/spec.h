// Spec: the job to simulate, as its options say. spec.cc holds the one table of its numbers and switches,
// from which the command line and truth.json are made.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/name_factor.h"
#include "base/result.h"
#include "simulate/era.h"
#include "simulate/faults/fault.h"
#include "simulate/faults/noise.h"

namespace spotter::simulate {

enum class Sharding : u8 { none, ddp, fsdp };
inline constexpr std::array<const char*, 3> kShardingNames = {"none", "ddp", "fsdp"};

inline constexpr size_t kMostScales = 64;

struct Spec {
  i64 ranks = 8, steps = 5, first_step = 3, layers = 12, hidden = 2048, batch = 4;
  i64 micro_batches = 0;  // 0: as many as the pipeline needs
  i64 events = 0;         // of a rank, about; 0: what micro_batches gives
  i64 tensor = 1, pipeline = 1, expert = 1, virtual_stages = 1, gpus_per_node = 8, bucket_mb = 25,
      jitter_percent = 2, seed = 1;
  i64 prefill_every = 8;
  bool inference = false, eager = false, annotations = false;
  bool cuda_graphs = false, python_stacks = false, memory_events = false, all_memory_events = false,
       all_shapes = false, coupled_sends = false;
  Sharding sharding = Sharding::ddp;
  const Era* era = &eras()[0];
  // Of device work, host spans (with what they call on the host) and calls; at most kMostScales.
  std::vector<NameFactor> scales;
  std::vector<Fault> faults;
  std::vector<NumberRange> omitted;  // ranks whose traces are not written
  Ns clock_offset = 0;               // hosts' clocks are up to so much off
  Noise noise = Noise::quiet;

  i64 last_step() const { return first_step + steps - 1; }
  i64 data() const { return ranks / (tensor * pipeline); }
  i64 chunk_layers() const { return layers / (pipeline * virtual_stages); }  // of one part of a stage
  bool omits(i64 rank) const {
    return std::ranges::any_of(omitted, [&](const NumberRange& range) { return range.has(rank); });
  }
};

struct NumberOption {
  const char* flag;
  i64 Spec::* value;
  i64 least, most;
  const char* help;
  bool tells_only_if_set = false;  // truth.json: so that the other jobs' stay as they are
};
struct SwitchOption {
  const char* flag;
  bool Spec::* value;
  const char* help;
  bool tells_only_if_set = false;
};
std::span<const NumberOption> number_options();
std::span<const SwitchOption> switch_options();

// Whether the options fit each other. Errors: invalid, naming the remedy.
Result<void> validate(const Spec& spec);

}  // namespace spotter::simulate
