// rules: what agents watch for, and with which thresholds.
#include <memory>

#include "app/capture/hosts.h"
#include "app/cli/command.h"
#include "app/cli/format_option.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "client/client.h"
#include "render/list.h"
#include "respond/rules_table.h"

namespace spotter::app {
namespace {

constexpr Ns kPatience = 10 * kSecond;

struct Options {
  HostOptions hosts;
  const render::Format* format = &render::kText;
  bool by_default = false;
};

Result<Table> rules_of(const Options& options) {
  if (options.by_default) return respond::rules_table({});
  TRY_ASSIGN(const Hosts hosts, find_hosts(options.hosts));
  const net::HttpAddress& first = hosts.addresses.front();
  auto answers = client::ask(std::span(&first, 1), hosts.credentials, {"GET", "/v1/rules", {}, {}},
                             respond::rules_columns(), kPatience);
  if (!answers[0]) return tl::unexpected(answers[0].error());
  Table table = std::move(answers[0]->table);
  return table;
}

Result<int> rules(const Options& options) {
  TRY_ASSIGN(Table table, rules_of(options));
  std::vector<Table> tables;
  tables.push_back(std::move(table));
  TRY(print(*options.format, {tables, {}}));
  return 0;
}

}  // namespace

Command rules_command() {
  const auto options = std::make_shared<Options>();
  std::vector<Option> all = host_options(options->hosts);
  all.push_back({.names = {"--defaults"},
                 .help = "as they are without a configuration; no agent is asked",
                 .read = set(options->by_default)});
  all.push_back(format_option(options->format));
  return {
      .name = "rules",
      .summary = "List what agents watch for, and with which thresholds.",
      .options = std::move(all),
      .action = [options] { return rules(*options); },
  };
}

}  // namespace spotter::app
