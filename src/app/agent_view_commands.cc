// ps and status: what agents say, as a table.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "api/client.h"
#include "api/tables.h"
#include "app/commands.h"
#include "app/format_option.h"
#include "app/hosts.h"
#include "app/missing_hosts.h"
#include "app/output.h"
#include "app/terminal.h"
#include "app/unregistered_text.h"
#include "table/ops.h"

namespace spotter {
namespace {

constexpr int kAll = 0, kSome = 3;  // exit statuses: how many of the agents have answered
constexpr Ns kPatience = 10'000'000'000;

struct Options {
  HostOptions hosts;
  const Format* format = &all_formats()[0];
};

bool has_column(const Table& table, std::string_view name) {
  return std::ranges::any_of(table.schema(), [&](const Field& f) { return f.name == name; });
}

// `job`: only rows of it, where the table has jobs; empty: all.
void append(Table& all, const Table& part, const std::string& job) {
  const bool has_jobs = !job.empty() && has_column(part, "job");
  std::vector<Value> row(part.columns());
  for (size_t r = 0; r < part.rows(); ++r) {
    if (has_jobs && text_or_empty(part, r, "job") != job) continue;
    for (size_t c = 0; c < part.columns(); ++c) row[c] = part.at(r, c);
    all.append(row);
  }
}

// `more`: what a person is told below the table of this host.
Action declare(CLI::App& app, const char* name, const char* target, std::span<const Field> schema,
               std::string (*more)(const Table&)) {
  const auto options = std::make_shared<Options>();
  add_host_options(app, options->hosts);
  add_format_option(app, options->format);
  return [=]() -> Result<int> {
    TRY_ASSIGN(const Hosts hosts, find_hosts(options->hosts));
    Table table(name, schema);
    std::vector<std::optional<Error>> errors;
    for (const Result<api::Answer>& answer :
         api::ask(hosts.addresses, hosts.credentials, {"GET", target, {}, {}}, schema, kPatience)) {
      errors.push_back(answer ? std::nullopt : std::optional(answer.error()));
      if (answer) append(table, answer->table, hosts.job);
    }
    TRY_ASSIGN(const bool is_whole, tell_missing(errors));
    const bool for_people = options->format == &all_formats()[0];
    std::string text;
    if (table.rows() > 0 || !for_people)
      text = render(*options->format, std::span(&table, 1), {}, style_of(STDOUT_FILENO));
    if (for_people && options->hosts.is_local()) text += more(table);
    TRY(write_output("", text));
    return is_whole ? kAll : kSome;
  };
}

std::string more_about_processes(const Table& processes) {
  std::string text;
  if (processes.rows() == 0)
    text =
        "No process is registered. Set KINETO_USE_DAEMON=1 where the training processes start; a process appears when it "
        "imports torch.\n";
  return text + unregistered_text(processes);
}

std::string nothing_more(const Table&) { return {}; }

}  // namespace

Action declare_ps(CLI::App& app) {
  return declare(app, "processes", "/v1/processes", api::processes_columns(), more_about_processes);
}

Action declare_status(CLI::App& app) {
  return declare(app, "status", "/v1/status", api::status_columns(), nothing_more);
}

}  // namespace spotter
