// ps, captures and status: what agents say, as a table.
#include <memory>
#include <vector>

#include "app/capture/agent_view.h"
#include "app/capture/unregistered_text.h"
#include "app/cli/command.h"
#include "app/cli/format_option.h"
#include "capture/capture.h"
#include "table/ops.h"
#include "wire/columns.h"
#include "wire/target.h"

namespace spotter::app {
namespace {

struct Options {
  HostOptions hosts;
  const render::Format* format = &render::kText;
};

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

}  // namespace

Command ps_command() {
  const auto options = std::make_shared<Options>();
  return {
      .name = "ps",
      .summary = "List the PyTorch processes that can be traced.",
      .options = view_options(*options),
      .action =
          [options] {
            return show(options->hosts, *options->format,
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
              return show(options->hosts, *options->format,
                          {"captures", "/v1/captures", wire::captures_columns(), more_about_captures});
            const std::string target = "/v1/captures/" + wire::escaped_parameter(*id);
            return show(options->hosts, *options->format,
                        {"receipts", target, capture::receipt_columns(), nullptr});
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
            return show(options->hosts, *options->format,
                        {"status", "/v1/status", wire::status_columns(), nullptr, nullptr, has_failing_part});
          },
  };
}

}  // namespace spotter::app
