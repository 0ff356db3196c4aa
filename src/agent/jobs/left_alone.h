// Whose processes are not traced for incidents: people's word counts, whatever the agent's configuration
// says.
#pragma once
#include <string>

#include "agent/respond_options.h"
#include "kineto/registry.h"

namespace spotter::agent {

// A sentence; empty: it may be traced. `process`: one of the job, or nullptr; `user`: whose it is.
std::string why_left_alone(const RespondOptions& options, const kineto::Process* process,
                           const std::string& user);

}  // namespace spotter::agent
