// What a job is made of, as far as its processes show it: what it is compared by with others of its series.
#pragma once
#include <string>

#include "base/system/host.h"
#include "process/process_facts.h"
#include "respond/change.h"

namespace spotter::agent {

// Of the same user and job name, whose command is the same but for numbers.
std::string series_of(const process::ProcessFacts& process);

// By "code/PAGE", "environment/NCCL_DEBUG": values are printable and bounded, and none is a secret by its
// name. Reads the repository that the process works in, as its user may.
respond::FactValues facts_of(const Host& host, const process::ProcessFacts& process);

}  // namespace spotter::agent
