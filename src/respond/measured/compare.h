// Own work that was measured (own_work.h), compared with its peers': whether a suspect's differs, what is
// alike, and where nobody was named, whose differs.
#pragma once
#include "respond/incidents/conclusion.h"
#include "table/table.h"

namespace spotter::respond {

// What the table `measured` (measured.h) adds to what the traces say. A member of four and more that is six
// spreads and 15 % on the worse side of the median (statistics/peers.h) stands out. A suspect that does is
// evidence, and makes the verdict sure; somebody else who does speaks against it. Without a verdict the one
// who stands out most is named where nothing else names anybody (Conclusion::otherwise), which is a hint.
// What of the suspects could not be compared is said.
void compare(const Table& measured, Conclusion& conclusion);

}  // namespace spotter::respond
