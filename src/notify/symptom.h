// What a rule saw, in words: of each rule a phrase with its numbers, and what to look at first.
#pragma once
#include <string>

#include "respond/incidents/incident.h"

namespace spotter::notify {

// "steps 3.10 → 4.42 s (+43 %)", "GPU 5 on gpu05 is throttled: clock 1.16 GHz of 1.98 GHz". Of a rule that
// has no words here its name and numbers.
std::string condition_text(const respond::Condition& condition);
std::string of_job(const respond::Condition& condition);  // " in job 4711 (alice)"; without one nothing

// Whether both are of one rule and say one thing: the same alert, the same kind of error.
bool says_the_same(const respond::Condition& a, const respond::Condition& b);

// The same of an incident: of its worst condition with the symptom's numbers, and how many more there are.
std::string symptom_text(const respond::Incident& incident);

// By whom the steps were measured, how far they are from the usual, since when, and whether few of them were
// judged; of others than speed and progress nothing.
std::string measured_by(const respond::Incident& incident);

// Whether it happened at a time, such as a fault, and does not go on.
bool is_moment(const respond::Incident& incident);

// Whether its text is a job's log's or an alert's, and not a rule's own: it is quoted.
bool quotes_others(const respond::Condition& condition);

// What helps as a rule; empty: nothing that can be said without a cause.
std::string first_remedy(const respond::Incident& incident);

// The condition that the incident began with, as far as it is known.
respond::Condition worst_condition(const respond::Incident& incident);

}  // namespace spotter::notify
