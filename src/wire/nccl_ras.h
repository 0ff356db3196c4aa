// What NCCL says of a running job: the answers of its RAS subsystem (NCCL 2.24 and later), as text and as
// JSON (2.28.7 and later). From whichever process of the job is asked, they are of the whole job. Text names
// ranks where few differ from the others, and nothing of communicators whose ranks agree. Pure; who answers
// may be anybody who listens there.
//
// Source: NCCL's src/ras/client_support.cc, of 2.24 to 2.29.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace spotter::wire {

// To be sent as it is; the server answers and closes. Who knows no JSON says so and answers as text.
inline constexpr std::string_view kRasQuestion = "TIMEOUT 3\nSET FORMAT json\nSTATUS\n";

struct RasRank {
  i64 rank = 0;            // in the communicator
  std::string host;        // an IP address; empty: not known
  i64 pid = -1, gpu = -1;  // as its host counts; -1: not known
};

// Ranks that have launched so many of an operation.
struct RasGroup {
  i64 launched = 0;
  i64 ranks = 0;
  std::vector<RasRank> named;  // all of them, or none where text names none
};

// An operation ("AllReduce"; "collective" of NCCL 2.24) of which ranks have launched more or fewer.
struct RasMismatch {
  std::string operation;
  std::vector<RasGroup> groups;  // the lowest first
};

struct RasCountedRank {
  RasRank rank;
  std::vector<std::pair<std::string, i64>> launched;  // by operation
};

struct RasCommunicator {
  u64 hash = 0;
  i64 size = 0;                       // of text 0: not said
  std::vector<RasCountedRank> ranks;  // of JSON
  std::vector<RasMismatch> mismatches;
  std::vector<RasRank> missing;  // did not answer, or know nothing of it
};

struct RasAnswer {
  std::string version;  // of NCCL
  std::vector<RasCommunicator> communicators;
  i64 timeouts = 0;  // of processes that were asked
};

// All that the server has sent. Errors: invalid (no such answer, or one that was cut off).
Result<RasAnswer> read_ras_answer(std::string_view text);

// Ranks that the others wait for.
struct StuckRanks {
  u64 communicator = 0;  // hash
  std::string operation;
  i64 launched = 0;  // by these
  i64 most = 0;      // by those that are ahead
  i64 count = 0;
  std::vector<RasRank> ranks;  // as many, or none
};

// Of two answers at least 5 s apart: mismatches that have not moved, and who has launched least. A mismatch
// alone is usual: a fast job outruns the question.
std::vector<StuckRanks> stuck_ranks(const RasAnswer& first, const RasAnswer& second);

}  // namespace spotter::wire
