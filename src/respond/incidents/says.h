// What a condition says, and why a fault is not the cause, as a clause for a person: "rank 37 on gpu05 (GPU
// 5): the clocks are held down for heat or power: 1155 MHz of 1980 MHz". Text of a job in it is as it came.
#pragma once
#include <string>
#include <string_view>

#include "respond/incidents/incident.h"

namespace spotter::respond {

std::string says(const Condition& condition);
std::string amount(double value, std::string_view unit);  // of a condition: "1155 MHz"
// Whom it is about: "rank 37 on gpu05 (GPU 5)".
std::string whom(const Condition& condition);

// Where a fault of all ranks explains less than a quarter of what steps take longer: that, and by how much.
// Empty: it is the cause, as far as that says it. Who stands out from its peers does so by any amount.
std::string why_not_the_cause(const Verdict& verdict, const Symptom& symptom);

}  // namespace spotter::respond
