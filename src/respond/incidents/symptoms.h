// What conditions say of an incident: its symptom, the cause that they name by themselves, and whether they
// agree with a trace.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "respond/incidents/incident.h"

namespace spotter::respond {

// Speed and progress: what somebody feels, and others are the causes of.
inline bool is_symptom_family(const std::string& family) { return family == "speed" || family == "progress"; }

// Nothing but somebody's word ends it, least of all that nobody tells of it any more.
bool is_by_hand(const Condition& condition);
// How directly the rule of a condition names a cause, 1 the most; 0: it is a symptom.
int rank_as_cause(const Condition& condition);
// What conditions alone say: the one that names a cause most directly.
std::optional<Verdict> verdict_of(const std::vector<const Condition*>& conditions);
// Whether a condition is about one of the suspects: a rank's about that rank, a host's about all who are
// there.
bool names(const Condition& condition, const std::vector<Suspect>& suspects);
bool is_same(const Verdict& a, const Verdict& b);  // cause and suspects
// What an incident shows of the conditions that fire: the worst ones, and the worst as its symptom.
void describe(Incident& incident, const std::map<u64, Condition>& firing);

}  // namespace spotter::respond
