// rules: what agents watch for, and with which thresholds; and what that would have said of what was.
#include <memory>

#include "app/capture/hosts.h"
#include "app/cli/command.h"
#include "app/cli/format_option.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/incident/rules_replay.h"
#include "base/moment.h"
#include "base/system/host.h"
#include "base/text/utf8.h"
#include "client/client.h"
#include "render/list.h"
#include "respond/rules_table.h"

namespace spotter::app {
namespace {

constexpr Ns kPatience = 10 * kSecond;

constexpr Ns kTested = kDay;

struct Options {
  bool is_test = false;
  RulesTestOptions test = {};
  bool by_default = false;
};

Result<Table> rules_of(const Options& options) {
  if (options.by_default) return respond::rules_table({});
  TRY_ASSIGN(const Hosts hosts, find_hosts(options.test.hosts));
  const net::HttpAddress& first = hosts.addresses.front();
  auto answers = client::ask(std::span(&first, 1), hosts.credentials, {"GET", "/v1/rules", {}, {}},
                             respond::rules_columns(), kPatience);
  if (const auto& answer = answers[0]; !answer)
    return fail(answer.error().code, "{}{}", answer.error().message,
                answer.error().code == Code::not_found
                    ? "; --defaults lists the built-in rules without an agent"
                    : "");
  Table table = std::move(answers[0]->table);
  return table;
}

Result<int> rules(const Options& options) {
  TRY_ASSIGN(Table table, rules_of(options));
  std::vector<Table> tables;
  tables.push_back(std::move(table));
  TRY(print(*options.test.format, {tables, {}}));
  return 0;
}

}  // namespace

Command rules_command() {
  const auto options = std::make_shared<Options>();
  Options& o = *options;
  const auto ago = [](const std::string& word) { return parse_ago(word, Host::at("/").unix_now()); };
  std::vector<Option> all = {
      {.names = {"--defaults"}, .help = "the built-in rules; no agent is asked", .read = set(o.by_default)},
      {.names = {"--since"},
       .value = "TIME",
       .help = "with test: from this long ago (7d) or this time on; default: 1d",
       .read = parsed(o.test.since, ago)},
      {.names = {"--job"}, .value = "ID", .help = "with test: of this job alone", .read = keep(o.test.job)},
      {.names = {"--config"},
       .value = "FILE",
       .help = "with test: with the rules of this configuration, which no agent need have yet",
       .read = keep(o.test.config),
       .offer = offer_files()}};
  append(all, host_options(o.test.hosts));
  all.push_back(format_option(o.test.format));
  return {
      .name = "rules",
      .summary =
          "List what agents watch for and with which thresholds, or replay the rules on recorded samples.",
      .arguments =
          {{.name = "test",
            .help =
                "which rules would have fired on the samples that the agents remember, and whether people "
                "would have been told; without it, the rules are listed",
            .read = [&o](const std::string& word) -> Result<void> {
              if (word != "test")
                return fail(Code::invalid, "\"{}\" is no action; there is test", to_printable(word));
              o.is_test = true;
              return {};
            },
            .offer = offer_words([] { return std::vector<std::string>{"test"}; }),
            .required = false}},
      .options = std::move(all),
      .footer =
          "Examples:\n"
          "  spotter rules\n"
          "  spotter rules test --since 7d\n"
          "  spotter rules test --since 7d --config new.yaml",
      .check = [options]() -> Result<void> {
        const RulesTestOptions& test = options->test;
        if (options->is_test && options->by_default)
          return fail(Code::invalid, "--defaults cannot be used with test");
        if (!options->is_test && (test.since != 0 || !test.job.empty() || !test.config.empty()))
          return fail(Code::invalid, "--since, --job and --config are of test: `spotter rules test`");
        return {};
      },
      .action = [options]() -> Result<int> {
        if (!options->is_test) return rules(*options);
        if (options->test.since == 0) options->test.since = kTested;
        return test_rules(options->test);
      },
  };
}

}  // namespace spotter::app
