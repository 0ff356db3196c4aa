// Why the second of two jobs is slower, or faster: what a person is told first when they are compared.
#pragma once
#include <string>
#include <vector>

#include "diagnose/run.h"

namespace spotter::diagnose {

// Both with findings and path. `conditions`: what of hardware, software and settings differs, as notes.
// Sentences, the first one about the step; then where the time is on the critical path, what differs between
// the machines and programs, and faults and opportunities that came, went or changed by 1 % of the step.
std::vector<std::string> causes(const Diagnosis& before, const Diagnosis& after, const Notes& conditions);

// Whether they tell this condition; which ranks and steps were recorded is no cause.
bool is_cause(const Note& condition);

// What a gate may be set on; none where a job does not tell.
enum class Quantity : u8 { step, device, communication, memory, count_ };
const char* quantity_name(Quantity quantity);
// Of a mean step: of the job, of a rank's computing, of its communication that no computing hides, in ns; the
// most memory that a device has in use, in bytes.
std::optional<i64> quantity_of(const Diagnosis& diagnosis, Quantity quantity);

}  // namespace spotter::diagnose
