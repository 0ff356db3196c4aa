#include "app/catalogue_view.h"

#include <unistd.h>

#include "app/agent_samples.h"
#include "app/local_times.h"
#include "app/output.h"
#include "app/terminal.h"
#include "store/history_query.h"

namespace spotter::app {

CLI::Option* add_catalogue_option(CLI::App& app, std::string& table) {
  return add_option(app, "--catalogue", "TABLE",
                    "what the agent's history knows beside samples: jobs, captures, events or series",
                    [&table](const std::string& word) -> Result<void> {
                      TRY(store::parse_catalogue_table(word));
                      table = word;
                      return {};
                    });
}

Result<int> show_catalogue(const HostOptions& options, const std::string& table,
                           const render::Format& format) {
  TRY_ASSIGN(const Hosts hosts, find_hosts(options));
  TRY_ASSIGN(Samples samples, ask_agents(hosts, "/v1/catalogue?table=" + table));
  if (&format == &render::all_formats()[0]) samples.tables = with_local_times(samples.tables, true);
  TRY(print(format, {samples.tables, samples.notes}));
  return exit_status(samples);
}

}  // namespace spotter::app
