// ps and status: what agents say, as a table.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "api/client.h"
#include "api/tables.h"
#include "app/commands.h"
#include "app/format_option.h"
#include "app/hosts.h"
#include "app/output.h"
#include "app/terminal.h"
#include "app/unregistered_text.h"
#include "base/utf8.h"

namespace spotter {
namespace {

constexpr int kAll = 0, kSome = 3;  // exit statuses: how many of the agents have answered
constexpr Ns kPatience = 10'000'000'000;

struct Options {
  HostOptions hosts;
  const Format* format = &all_formats()[0];
};

void append(Table& all, const Table& part) {
  std::vector<Value> row(part.columns());
  for (size_t r = 0; r < part.rows(); ++r) {
    for (size_t c = 0; c < part.columns(); ++c) row[c] = part.at(r, c);
    all.append(row);
  }
}

// `more`: what a person is told below the table of this host.
Action declare(CLI::App& app, const char* target, std::span<const Field> schema,
               std::string (*more)(const Table&)) {
  const auto options = std::make_shared<Options>();
  add_host_options(app, options->hosts);
  add_format_option(app, options->format);
  return [=]() -> Result<int> {
    TRY_ASSIGN(const Hosts hosts, find_hosts(options->hosts));
    std::optional<Table> table;
    std::optional<Error> error;
    for (const Result<api::Answer>& answer :
         api::ask(hosts.addresses, hosts.credentials, {"GET", target, {}, {}}, schema, kPatience)) {
      if (!answer && hosts.addresses.size() > 1)
        std::fprintf(stderr, "spotter: %s\n", to_printable(answer.error().message).c_str());
      if (!answer)
        error = answer.error();
      else if (table)
        append(*table, answer->table);
      else
        table = answer->table;
    }
    if (!table && hosts.addresses.size() > 1) return fail(error->code, "no agent has answered");
    if (!table) return tl::unexpected(*error);
    const bool for_people = options->format == &all_formats()[0];
    std::string text;
    if (table->rows() > 0 || !for_people)
      text = render(*options->format, std::span(&*table, 1), {}, style_of(STDOUT_FILENO));
    if (for_people && options->hosts.is_local()) text += more(*table);
    TRY(write_output("", text));
    return error ? kSome : kAll;
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
  return declare(app, "/v1/processes", api::processes_columns(), more_about_processes);
}

Action declare_status(CLI::App& app) {
  return declare(app, "/v1/status", api::status_columns(), nothing_more);
}

}  // namespace spotter
