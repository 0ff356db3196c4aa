// Own work that was measured (own_work.h), compared with its peers': whether a suspect's differs, what is
// alike, and where nobody was named, whose differs.
#pragma once
#include <string>

#include "respond/incidents/conclusion.h"
#include "table/table.h"

namespace spotter::respond {

// What the table `measured` (measured.h) adds to what the traces say. A member of four and more that is six
// spreads and 15 % on the worse side of the median (statistics/peers.h), and was not so before the job became
// slow, stands out: what was always so is another model, or another duty. A suspect that stands out is
// evidence, and makes the verdict surer; one that is 15 % and three spreads worse is shown, and makes nothing
// surer; one that is as good as the median but for 5 % is said to be like the others. Somebody else who
// stands out speaks against it. Without suspects the first one in the order of own_work() is a hint. What of
// the suspects could not be compared is said.
//
// `own_host`: who has asked, whom agents on other hosts may have by another name, `own_name`.
void compare(const Table& measured, const std::string& own_host, const std::string& own_name,
             Conclusion& conclusion);

}  // namespace spotter::respond
