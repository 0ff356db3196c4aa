// Faults: what is wrong with a simulated job. fault_kinds.cc holds the one table of their names, parameters
// and defaults; program.cc, step_faults.cc, communication.cc and the machine (machine_launch.cc,
// machine_collectives.cc) say what each does.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "simulate/number_range.h"

namespace spotter::simulate {

enum class FaultType : u8 {
  slow_rank,
  slow_link,
  data_loader_stall,
  launch_bound,
  host_sync,
  gc_pause,
  throttle,
  imbalance,
  allocator_retries,
  unoverlapped_communication,
  straggling_step,
  hang,
  extra_calls,
  copies,
  compilation,
  memory_pressure,
  low_efficiency,
};

// The experts of a mixture are shared out among the ranks of an expert group; those with the same ones are an
// expert_data group.
enum class GroupKind : u8 { data, tensor, pipeline, expert, expert_data };
inline constexpr size_t kGroupKinds = 5;
inline constexpr std::array<const char*, kGroupKinds> kGroupNames = {"data", "tensor", "pipeline", "expert",
                                                                     "expert_data"};

struct RankPair {
  i64 one = 0, other = 0;
  bool is(i64 a, i64 b) const { return (a == one && b == other) || (a == other && b == one); }
};

struct Fault {
  FaultType type = FaultType::slow_rank;
  std::string text;  // as it was asked for
  NumberRange ranks, steps;
  GroupKind group = GroupKind::data;  // slow-link: of these groups
  NumberRange groups;                 // the ones with these numbers
  std::optional<RankPair> pair;       // in place of both: the link between these ranks
  bool tells_groups = false;          // it was asked for with a group or an index
  double factor = 1;
  Ns ns = 0;
  Ns from_ns = 0;  // since the first step began
  i64 count = 1;
  i64 every = 1;  // in steps whose number this divides
  i64 bytes = 0;
  u64 number = 0;  // among the job's: what it draws stays when others are taken away

  // What `imbalance` gives to its ranks it takes from the others.
  bool is_at(i64 rank, i64 step) const {
    return (ranks.has(rank) || type == FaultType::imbalance) && steps.has(step) && step % every == 0;
  }
};

// Whether it makes device work longer, wherever that is.
inline bool slows_device(FaultType type) {
  return type == FaultType::slow_rank || type == FaultType::throttle || type == FaultType::imbalance ||
         type == FaultType::straggling_step || type == FaultType::low_efficiency;
}

struct FaultParam {
  const char* name;
  const char* fallback;  // as a user would write it
  const char* help;
  bool (*set)(Fault& fault, std::string_view text, i64 last_step);  // false: the text does not fit
};

struct FaultKind {
  FaultType type;
  const char* name;
  const char* help;
  std::span<const FaultParam> params;
};

std::span<const FaultKind> fault_kinds();
const FaultKind& kind_of(FaultType type);
std::vector<std::string> fault_names();

// "slow-rank:rank=3,factor=1.5". `last_step` is what the word "last" means.
Result<Fault> parse_fault(const std::string& text, i64 last_step);

// What --list-faults prints.
std::string describe_faults();

}  // namespace spotter::simulate
