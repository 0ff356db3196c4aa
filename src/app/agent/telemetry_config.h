// Words of the command line and the configuration file that say what is measured and for whom.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "agent/telemetry/telemetry_options.h"
#include "base/result.h"

namespace spotter::app {

// Comma between: "all" (those that are on by default), NAME, or -NAME for all but it; those that are named
// may have a period of their own behind a colon: "all,-pmu,disk:10s". A list that begins with -NAME is one
// that begins with "all". "off" is none; no other list may leave none.
Result<std::vector<collect::Wanted>> parse_collectors(const std::string& words);

// "off", or a file. The folder of the default one is made when the agent begins.
Result<std::optional<store::HistoryOptions>> parse_history(const std::string& word);
std::string default_history();  // of root, of a service, or of this user

// A sink as the configuration says it: its kind and its settings by key. Errors: invalid.
Result<agent::SinkOptions> checked_sink(const Settings& said);

}  // namespace spotter::app
