// ps, captures and status: what agents say, as a table.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "app/capture/hosts.h"
#include "app/capture/missing_hosts.h"
#include "app/capture/unregistered_text.h"
#include "app/cli/format_option.h"
#include "app/cli/local_times.h"
#include "app/cli/output.h"
#include "app/cli/terminal.h"
#include "capture/capture.h"
#include "client/client.h"
#include "render/list.h"
#include "table/ops.h"
#include "wire/columns.h"
#include "wire/target.h"

namespace spotter::app {
namespace {

constexpr int kAll = 0, kSome = 3;  // exit statuses: how many of the agents have answered
constexpr int kFails = 1;           // all have, and something of them fails
constexpr Ns kPatience = 10'000'000'000;

struct Options {
  HostOptions hosts;
  const render::Format* format = &render::kText;
};

// A table of agents.
struct View {
  const char* name;
  std::string target;  // where it is asked for
  std::span<const Field> schema;
  std::string (*more)(const Table&);      // what a person is told below the table of this host
  bool (*fails)(const Table&) = nullptr;  // whether something is wrong with what it says; nullptr: never
};

bool has_column(const Table& table, std::string_view name) {
  return std::ranges::any_of(table.schema(), [&](const Field& f) { return f.name == name; });
}

// `job`: only rows of it, where the table has jobs; empty: all.
void append(Table& all, const Table& part, const std::string& job) {
  const bool has_jobs = !job.empty() && has_column(part, "job");
  std::vector<Value> row(part.columns());
  for (size_t r = 0; r < part.rows(); ++r) {
    if (has_jobs && table::text_or_empty(part, r, "job") != job) continue;
    for (size_t c = 0; c < part.columns(); ++c) row[c] = part.at(r, c);
    all.append(row);
  }
}

Result<int> show(const Options& options, const View& view) {
  TRY_ASSIGN(const Hosts hosts, find_hosts(options.hosts));
  Table table(view.name, view.schema);
  std::vector<std::optional<Error>> errors;
  for (const Result<client::Answer>& answer : client::ask(
           hosts.addresses, hosts.credentials, {"GET", view.target, {}, {}}, view.schema, kPatience)) {
    errors.push_back(answer ? std::nullopt : std::optional(answer.error()));
    if (answer) append(table, answer->table, hosts.job);
  }
  TRY_ASSIGN(const bool is_whole, tell_missing(errors));
  const bool fails = view.fails && view.fails(table);
  const bool for_people = options.format == &render::kText;
  std::vector<Table> tables{std::move(table)};
  if (!for_people) {
    TRY(print(*options.format, {tables, {}}));
  } else {
    const std::string more = options.hosts.is_local() ? view.more(tables[0]) : "";
    tables = with_local_times(tables, true);
    if (tables[0].rows() > 0) TRY(print(*options.format, {tables, {}}));
    TRY(write_output("", more));
  }
  return !is_whole ? kSome : fails ? kFails : kAll;
}

std::vector<Option> view_options(Options& options) {
  std::vector<Option> all = host_options(options.hosts);
  all.push_back(format_option(options.format));
  return all;
}

std::string more_about_processes(const Table& processes) {
  std::string text;
  if (processes.rows() == 0)
    text =
        "No process is registered. Set KINETO_USE_DAEMON=1 where the training processes start; a process appears when it "
        "imports torch.\n";
  return text + unregistered_text(processes);
}

std::string more_about_captures(const Table& captures) {
  return captures.rows() > 0 ? "" : "This agent knows of no capture; `spotter trace` begins one.\n";
}

bool has_failing_part(const Table& status) {
  for (size_t r = 0; r < status.rows(); ++r)
    if (table::text_or_empty(status, r, "state") == "fails") return true;
  return false;
}

std::string nothing_more(const Table&) { return {}; }

}  // namespace

Command ps_command() {
  const auto options = std::make_shared<Options>();
  return {
      .name = "ps",
      .summary = "List the PyTorch processes that can be traced.",
      .options = view_options(*options),
      .action =
          [options] {
            return show(*options,
                        {"processes", "/v1/processes", wire::processes_columns(), more_about_processes});
          },
  };
}

Command captures_command() {
  const auto id = std::make_shared<std::string>();
  const auto options = std::make_shared<Options>();
  return {
      .name = "captures",
      .summary = "List the captures of an agent, or say what became of one.",
      .arguments = {{.name = "ID",
                     .help = "the capture whose receipts are shown; without one, all captures are listed",
                     .read = [id = id.get()](const std::string& word) -> Result<void> {
                       if (word.empty()) return fail(Code::invalid, "an id is no empty text");
                       *id = word;
                       return {};
                     },
                     .required = false}},
      .options = view_options(*options),
      .action =
          [id, options] {
            if (id->empty())
              return show(*options,
                          {"captures", "/v1/captures", wire::captures_columns(), more_about_captures});
            const std::string target = "/v1/captures/" + wire::escaped_parameter(*id);
            return show(*options, {"receipts", target, capture::receipt_columns(), nothing_more});
          },
  };
}

Command status_command() {
  const auto options = std::make_shared<Options>();
  return {
      .name = "status",
      .summary = "Say whether each part of an agent works.",
      .options = view_options(*options),
      .footer =
          "Exit status: 0 where every part of every agent works, is off or has nothing to do here; 1 where one "
          "fails; 3 where\nnot all agents have answered.",
      .action =
          [options] {
            return show(*options,
                        {"status", "/v1/status", wire::status_columns(), nothing_more, has_failing_part});
          },
  };
}

}  // namespace spotter::app
