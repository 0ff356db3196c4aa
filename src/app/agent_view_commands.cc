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

namespace spotter {
namespace {

constexpr Ns kPatience = 10'000'000'000;

struct Options {
  std::string socket;
  const Format* format = &all_formats()[0];
};

Action declare(CLI::App& app, const char* target, std::span<const Field> schema, const char* nothing) {
  const auto options = std::make_shared<Options>();
  add_socket_option(app, options->socket);
  add_format_option(app, options->format);
  return [=]() -> Result<int> {
    TRY_ASSIGN(const api::Answer answer,
               api::ask(socket_or_default(options->socket), "GET", target, {}, schema, kPatience));
    if (answer.table.rows() == 0 && options->format == &all_formats()[0]) {
      TRY(write_output("", std::string(nothing) + "\n"));
      return 0;
    }
    TRY(write_output("", render(*options->format, std::span(&answer.table, 1), {}, style_of(STDOUT_FILENO))));
    return 0;
  };
}

}  // namespace

Action declare_ps(CLI::App& app) {
  return declare(
      app, "/v1/processes", api::processes_columns(),
      "No process is registered. Set KINETO_USE_DAEMON=1 where the training processes start; a process appears when "
      "it imports torch.");
}

Action declare_status(CLI::App& app) { return declare(app, "/v1/status", api::status_columns(), ""); }

}  // namespace spotter
