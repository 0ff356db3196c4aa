// metrics --catalogue: what the histories of agents know beside samples: which jobs, captures, events and
// series there were, and when.
#pragma once
#include <string>

#include "app/cli.h"
#include "app/hosts.h"
#include "render/render.h"

namespace spotter::app {

CLI::Option* add_catalogue_option(CLI::App& app, std::string& table);

// Asks the agents for this table of the catalogue, and prints it. Gives the exit status.
Result<int> show_catalogue(const HostOptions& options, const std::string& table,
                           const render::Format& format);

}  // namespace spotter::app
