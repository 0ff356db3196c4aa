// The samples of one or many agents, as tables.
#pragma once
#include <string>
#include <vector>

#include "app/capture/hosts.h"
#include "base/notes.h"
#include "base/result.h"
#include "table/table.h"
#include "wire/metrics_query.h"

namespace spotter::app {

struct Samples {
  std::vector<Table> tables;
  Notes notes;
  bool is_whole = true;  // every agent has answered
};

// How a command ends that has shown them.
inline int exit_status(const Samples& samples) {
  constexpr int kWhole = 0, kPart = 3;
  return samples.is_whole ? kWhole : kPart;
}

// What becomes of a question about a stretch of time where an agent has no history.
enum class WithoutHistory : u8 {
  error,
  newest,  // its newest samples, as they are counted, and a note
};

// Asks all agents at once. Of several, the tables have a first column `host`. Who does not answer is told on
// stderr. Errors: where none has answered, that of the only one or not_found and the like.
Result<Samples> ask_agents(const Hosts& hosts, wire::MetricsQuery query,
                           WithoutHistory without = WithoutHistory::error);
// The same of another door of theirs that gives tables.
Result<Samples> ask_agents(const Hosts& hosts, const std::string& target);

}  // namespace spotter::app
