// What the flight recorders of all ranks show together: in each process group which collective was the last
// that all have ended, which one some have called and others have not, who is in one that has not ended,
// where calls differ, and who waits for data that nobody has sent. Pure.
//
// A collective is what its number within the group says. Records are made one after the other: in a job that
// runs, what has just begun looks unfinished, too.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyze/flight_recorder/process_groups.h"

namespace spotter::analyze {

struct GroupFinding {
  enum class Kind : u8 {
    completed,    // the last collective that all ranks whose records tell have ended
    not_joined,   // some ranks have called it, others have not
    left_behind,  // all that tell have called it, and some have ended it that others are still in
    unfinished,   // all that tell are in it
    differs,      // ranks call different operations under one number, or with other sizes or types
    unanswered,   // ranks receive what the sender is not sending
  };
  Kind kind = Kind::completed;
  size_t group = 0;              // of ProcessGroups
  i64 sequence = 0;              // of unanswered receives the number of the first among sends and receives
  std::optional<u32> form = {};  // of the call, where a record still has it
  // Whom it is about: completed: who has ended it; not_joined: missing and silent; left_behind, unfinished:
  // inside; differs: all but those of the most frequent form; unanswered: the senders.
  std::set<i64> ranks = {};
  // The members of the group, each in one of these.
  std::set<i64> inside = {};   // has called it, and it has not ended
  std::set<i64> ended = {};    // it has ended, or a later one was called and this is forgotten
  std::set<i64> missing = {};  // has not called it
  std::set<i64> silent = {};   // its record says nothing of the group: not called, or ended and forgotten
  std::set<i64> without_dump = {};  // nobody knows
  std::optional<Ns> since = {};     // when the first rank called it, Unix time
  std::string detail = {};
};
const char* kind_name(GroupFinding::Kind kind);

// By group, those first in which something was unfinished first; within a group by kind.
std::vector<GroupFinding> group_findings(const ProcessGroups& groups);

// Where the trouble may have begun.
struct FirstToLook {
  std::set<i64> left_behind;  // they are still in what others have ended: their device, or its driver
  std::set<i64> absent;       // of the others those that some wait for, and that wait for nobody
  std::set<i64> unknown;  // others are in something with them, and there is no dump of them: they may be dead
};
FirstToLook first_to_look_at(const std::vector<GroupFinding>& findings);

}  // namespace spotter::analyze
