// The process groups of a job as the flight recorders of its ranks tell of them, and where each rank is in
// each: what the comparison over ranks (group_findings.h) is made from. Records are added one by one, and
// little is kept of each.
//
// A group is one where its name, description and ranks are the same; the numbers that processes give it
// differ. Backends that do not tell a group's ranks: those that have calls in it.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/notes.h"
#include "trace/flight_record.h"

namespace spotter::analyze {

// What a call does; equal calls of all ranks share one.
struct CallForm {
  std::string operation;                  // "all_reduce", as its backend calls it
  std::string sizes;                      // "[[32]] -> [[4, 32]]"; "[[512]]" where both are the same
  std::string types;                      // "Float", likewise
  std::string agreed;                     // what must be the same on all ranks; see form_of
  i64 elements_in = 0, elements_out = 0;  // -1: more than 64 bits
  bool is_all_to_all = false;             // of which the sums over all ranks must agree
};

// Sizes are left out of what must agree where each rank may have its own: of an all-to-all, what a scatter
// takes and what a gather gives, and operations for messages of several sizes ("_v"). These are the rules of
// PyTorch's own analyzer (torch/distributed/flight_recorder/components/types.py, Op.match).
CallForm form_of(const FlightRecord::Call& call);

struct GroupCall {
  i64 sequence = 0;
  u32 form = 0;
  bool has_ended = false;
  std::optional<Ns> created;
};

// A send or a receive that has not ended.
struct OpenTransfer {
  i64 peer = 0;  // a rank of the job
  bool receives = false;
  u32 form = 0;
  i64 sequence = 0;
  std::optional<Ns> created;
};

// A rank's place in a group.
struct GroupRank {
  i64 rank = 0;
  std::vector<GroupCall> collectives;  // by sequence; coalesced ones share a number
  std::vector<OpenTransfer> transfers;
  i64 calls = 0, open_calls = 0;  // of any kind
  // The number of the last collective that it has called; none where the record says nothing of the group
  // and may have forgotten.
  std::optional<i64> last;
  std::optional<FlightRecord::Status> status;

  bool has_forgotten = false;  // calls before those that are here
  bool is_silent() const { return !last; }
  // Whether some of the coalesced calls of that number may be forgotten.
  bool may_lack_part(i64 sequence) const {
    return has_forgotten && !collectives.empty() && collectives.front().sequence == sequence;
  }
  // The number of the first collective that has not ended.
  std::optional<i64> first_open() const;
};

struct ProcessGroup {
  std::string name, description;
  std::set<i64> members;
  std::map<i64, GroupRank> ranks;  // those with a record
};

class ProcessGroups {
 public:
  // Of several records of one rank the first counts.
  void add(const FlightRecord& record);

  std::span<const ProcessGroup> groups() const { return groups_; }
  const CallForm& form(u32 form) const { return forms_[form]; }
  const std::set<i64>& ranks() const { return ranks_; }  // those with a record
  const Notes& notes() const { return notes_; }

 private:
  using GroupKey = std::tuple<std::string, std::string, std::vector<i64>>;

  GroupRank& place_in(const GroupKey& key, i64 rank);
  u32 form_id(const FlightRecord::Call& call);
  void add_call(const FlightRecord::Call& call, const std::vector<i64>& members, GroupRank& place);

  std::vector<ProcessGroup> groups_;
  std::map<GroupKey, size_t> group_ids_;
  std::vector<CallForm> forms_;
  std::map<std::tuple<std::string, std::string, std::string>, u32> form_ids_;  // operation, sizes, types
  std::set<i64> ranks_;
  Notes notes_;
};

}  // namespace spotter::analyze
