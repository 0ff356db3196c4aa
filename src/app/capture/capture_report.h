// The report of a capture: what this host has is read here, the rest by the agents that have it.
#pragma once
#include <string>

#include "client/credentials.h"
#include "client/fleet.h"

namespace spotter::app {

// Writes it to the file `report`, or to standard output where that is empty; nothing where nothing was
// traced. `output`: the directory of the traces; `receipts_file`: says who is missing.
Result<void> report_capture(const client::Fleet& fleet, const client::Credentials& credentials,
                            const std::string& output, const std::string& receipts_file,
                            const std::string& report);

}  // namespace spotter::app
