// Hosts of one name: containers are all called "localhost" at times, and then a name tells nothing of who is
// joined by what, or of whose clocks are one.
#pragma once
#include "analyze/replay/job_program.h"

namespace spotter::analyze {

// Where ranks of one name repeat their devices' numbers, each in its turn, they are of as many hosts, and the
// host of each gets a number of its own: "localhost#2". Where the numbers tell nothing (each process sees its
// own device only, or several share one) the name is believed, but for "localhost", which is then no name.
void tell_hosts_apart(JobProgram& job);

}  // namespace spotter::analyze
