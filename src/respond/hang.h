// What is known of a job that does not go on: what its ranks do as the kernels of their hosts see it, what
// NCCL and the dumps of PyTorch's flight recorder say of who has not arrived. Together they are a conclusion.
// Pure: all of it is handed in. No trace is made: it would disturb what hangs, and show nothing new.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "respond/incidents/conclusion.h"
#include "respond/incidents/condition.h"

namespace spotter::respond {

// A rank, looked at twice: what was the same both times.
struct HostedRank {
  std::string host = {};
  i64 rank = 0, pid = 0;      // pid 0: of another host, which tells no more than its state and function
  char state = '?';           // of its first thread, as proc(5) has it; ?: it changed, or is not known
  std::string function = {};  // of the kernel, in which it waits
  std::vector<std::string> stack = {};  // of the kernel, the innermost first
};

// What the dumps of flight recorders say (diagnose/mechanisms/recorded_hang.h).
struct RecordedHang {
  std::vector<i64> ranks = {};
  std::string what = {};     // a sentence without its full stop
  bool has_no_dump = false;  // of these ranks: nobody knows what they do
};

struct HangFacts {
  std::string host = {};
  i64 world_size = 0;  // 0: not known
  std::vector<HostedRank> ranks = {};
  std::vector<Condition> conditions = {};  // of the incident
  std::optional<RecordedHang> recorded = {};
  std::vector<std::string> against = {}, not_known = {};  // what else was learnt while they were gathered
};

// What a host says of ranks of its own that stand still (Condition::kernel_wait) to the host that leads:
// "3 D nfs_wait_bit_killable, 4 T". Of a stack the function that tells most.
std::string kernel_wait_of(const std::vector<HostedRank>& ranks);
// The other way round; without what no kernel could say.
std::vector<HostedRank> hosted_ranks_of(const Condition& condition);

// Nothing of a cause that a condition names as well (rank_gone): it is not found twice.
Conclusion conclusion_of(const HangFacts& facts);

}  // namespace spotter::respond
