// What a condition says, as a clause for a person: "GPU 5 of rank 37 on gpu05 runs at 1,155 MHz of 1,980: the
// hardware holds its clocks down". Text of a job in it is as it came.
#pragma once
#include <string>

#include "respond/incidents/condition.h"

namespace spotter::respond {

std::string says(const Condition& condition);
// Whom it is about: "rank 37 on gpu05 (GPU 5)".
std::string whom(const Condition& condition);

}  // namespace spotter::respond
