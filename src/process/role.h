// What a process that registered is to its job. Everything that imports torch registers: the ranks, but also
// launchers, data-loader and compile workers, notebooks. Told from its control group, its command line, its
// environment and its parent; the evidence goes with the answer.
#pragma once
#include <optional>
#include <string>

#include "process/process_facts.h"

namespace spotter::process {

enum class Role : u8 {
  rank,      // one of the processes of a distributed job
  training,  // a training or inference process on its own
  helper,    // a launcher or a worker of another process
};
const char* role_name(Role role);

struct Identity {
  Role role = Role::training;
  std::string evidence;  // a sentence
  std::optional<i64> rank, world_size;
  std::string job;  // of the scheduler (its control group counts first) or the launcher; empty: none
};

// The rank that its environment says: of a worker that of the process that started it.
std::optional<i64> inherited_rank(const ProcessFacts& process);

// Whether its parent counts: of what multiprocessing started.
bool needs_parent(const ProcessFacts& process);

// `parent`: nullptr where it is not known or does not count.
Identity identify(const ProcessFacts& process, const ProcessFacts* parent);

}  // namespace spotter::process
