// ps and status: what the agent says, as a table.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "api/client.h"
#include "api/tables.h"
#include "app/agent_socket.h"
#include "app/commands.h"
#include "app/format_option.h"
#include "app/output.h"
#include "app/terminal.h"
#include "app/unregistered_text.h"

namespace spotter {
namespace {

constexpr Ns kPatience = 10'000'000'000;

struct Options {
  std::string socket;
  const Format* format = &all_formats()[0];
};

// `more`: what a person is told below the table.
Action declare(CLI::App& app, const char* target, std::span<const Field> schema,
               std::string (*more)(const Table&)) {
  const auto options = std::make_shared<Options>();
  add_socket_option(app, options->socket);
  add_format_option(app, options->format);
  return [=]() -> Result<int> {
    TRY_ASSIGN(const api::Answer answer,
               api::ask(socket_or_default(options->socket), "GET", target, {}, schema, kPatience));
    const Table& table = answer.table;
    const bool for_people = options->format == &all_formats()[0];
    std::string text;
    if (table.rows() > 0 || !for_people)
      text = render(*options->format, std::span(&table, 1), {}, style_of(STDOUT_FILENO));
    if (for_people) text += more(table);
    TRY(write_output("", text));
    return 0;
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
