// metrics --catalogue: what the histories of agents know beside samples: which jobs, captures, events and
// series there were, and when.
#pragma once
#include <string>

#include "app/capture/hosts.h"
#include "app/cli/command.h"
#include "render/render.h"

namespace spotter::app {

Option catalogue_option(std::string& table);

// Asks the agents for this table of the catalogue, and prints it. Gives the exit status.
Result<int> show_catalogue(const HostOptions& options, const std::string& table,
                           const render::Format& format);

}  // namespace spotter::app
