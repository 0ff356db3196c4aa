// FlightRecord: what PyTorch's flight recorder tells of one rank: the last calls of collectives, sends and
// receives of each process group, whether they have ended, and where in the program they were made. Read by
// read/flight_recorder, compared over the ranks by analyze/flight_recorder. It holds no events of a trace.
//
// Format and meaning: FlightRecorderDetail.hpp of torch/csrc/distributed/c10d.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/notes.h"
#include "base/result.h"
#include "base/types.h"

namespace spotter {

struct FlightRecordFile {
  std::string path;
  i64 rank = 0;             // by its name, which alone tells it
  std::string beside = {};  // the same dump as JSON, which tells less; mostly empty
};

struct FlightRecord {
  // How far a call was seen to be. Without timing nobody looks whether one has started, and backends that
  // work on the host leave all at `scheduled`.
  enum class State : u8 { unknown, scheduled, started, completed };
  struct Frame {
    std::string function, file;
    i64 line = 0;
    bool operator==(const Frame&) const = default;
  };
  using Sizes = std::vector<std::vector<i64>>;  // of each tensor
  struct Call {
    i64 record_id = 0;  // counts the rank's calls of all groups
    i64 group_id = 0;   // a number that only this process gives the group
    std::string group, description;
    // Count the group's collectives, and its sends and receives, up to this call. Coalesced calls share one.
    i64 collective_seq = 0, p2p_seq = 0;
    i64 op_id = 0;     // counts both, and coalesced calls one by one
    std::string name;  // "nccl:all_reduce", "nccl:send 0->3": ranks within the group
    Sizes input_sizes = {}, output_sizes = {};
    std::vector<std::string> input_types = {}, output_types = {};  // c10::ScalarType: "BFloat16"
    State state = State::unknown;
    bool is_p2p = false;
    bool is_retired = false;  // nobody watches it any more: it has ended, or timed out
    // Unix time. What was seen was so then, and since when is not known.
    std::optional<Ns> created = {}, seen_started = {}, seen_completed = {};
    std::optional<Ns> duration = {}, timeout = {};
    std::string thread = {};
    u32 stack = kNone;  // index into `stacks`

    // Retired is all that backends on the host tell of a call that has ended.
    bool has_ended() const;
  };
  struct Group {
    std::string name, description;
    std::vector<i64> ranks;  // may be empty: not told
  };
  // The recorder's own numbers of a group, of its last call of any kind: what they count differs between
  // backends.
  struct Status {
    i64 group_id = 0;
    std::optional<i64> last_enqueued = {}, last_started = {}, last_completed = {};
  };

  FlightRecordFile file;
  std::string version;          // of the format: "2.10"
  std::string library_version;  // of NCCL
  std::vector<Group> groups;
  std::vector<Status> statuses;
  std::vector<Call> calls;  // by record_id; the recorder forgets the oldest, and may leave out what has ended
  std::vector<std::vector<Frame>> stacks;  // the innermost frame first
  Notes notes;
};

// As traces have a Loader (trace/load.h).
using FlightRecordLoader = std::function<Result<FlightRecord>(const FlightRecordFile&)>;

}  // namespace spotter
