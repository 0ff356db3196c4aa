#include "app/metrics/catalogue_view.h"

#include <unistd.h>

#include "app/cli/local_times.h"
#include "app/cli/output.h"
#include "app/cli/terminal.h"
#include "app/metrics/agent_samples.h"
#include "render/list.h"
#include "store/history_query.h"

namespace spotter::app {

Option catalogue_option(std::string& table) {
  return {
      .names = {"--catalogue"},
      .value = "TABLE",
      .help = "what the agent's history knows beside samples: jobs, captures, events or series",
      .read = [&table](const std::string& word) -> Result<void> {
        TRY(store::parse_catalogue_table(word));
        table = word;
        return {};
      },
      .offer = offer_words([] { return std::vector<std::string>{"jobs", "captures", "events", "series"}; })};
}

Result<int> show_catalogue(const HostOptions& options, const std::string& table,
                           const render::Format& format) {
  TRY_ASSIGN(const Hosts hosts, find_hosts(options));
  TRY_ASSIGN(Samples samples, ask_agents(hosts, "/v1/catalogue?table=" + table));
  if (&format == &render::kText) samples.tables = with_local_times(samples.tables, true);
  TRY(print(format, {samples.tables, samples.notes}));
  return exit_status(samples);
}

}  // namespace spotter::app
