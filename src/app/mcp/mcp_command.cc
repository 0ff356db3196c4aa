// mcp: answers an assistant on standard input and output, until these end.
#include <unistd.h>

#include <memory>

#include "app/capture/hosts.h"
#include "app/cli/command.h"
#include "app/cli/format_option.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/mcp/client_config.h"
#include "base/system/memory.h"
#include "base/text/shell_word.h"
#include "mcp/agent_traces.h"
#include "mcp/asked_agents.h"
#include "mcp/call_tool.h"
#include "mcp/stdio.h"
#include "net/address.h"
#include "render/list.h"
#include "serve/folder_traces.h"

namespace spotter::app {
namespace {

struct Options {
  std::vector<std::string> folders;
  HostOptions hosts;
  bool may_capture = false;
  std::string client;           // whose configuration is printed
  std::string tool, arguments;  // what is asked, instead of what an assistant asks
  const render::Format* format = &render::kText;
};

Result<mcp::World> world_of(const Options& options) {
  mcp::World world{.may_capture = options.may_capture};
  if (!options.folders.empty()) {
    world.traces = std::make_unique<serve::FolderTraces>(options.folders);
    return world;
  }
  TRY_ASSIGN(Hosts hosts, find_hosts(options.hosts));
  auto agents = std::make_unique<mcp::AskedAgents>(std::move(hosts.addresses), std::move(hosts.credentials),
                                                   shell_words(words_of(options.hosts)));
  world.traces = std::make_unique<mcp::AgentTraces>(*agents);
  world.agents = std::move(agents);
  return world;
}

// What an assistant is told if it asks this, all of its rows.
Result<int> call(mcp::World& world, const Options& options) {
  TRY_ASSIGN(mcp::Answer answer, mcp::ask_tool(world, options.tool, options.arguments, {}));
  Notes notes;
  for (const std::string& note : answer.notes) notes.add("note", Severity::info, note);
  if (options.format == &render::kText) fmt::print("{}\n", answer.sentence);
  TRY(print(*options.format, {std::span(&answer.table, 1), notes}));
  return 0;
}

Result<int> serve_mcp(const Options& options) {
  if (!options.client.empty()) {
    TRY_ASSIGN(const std::string text,
               client_config(options.client, options.folders, words_of(options.hosts), options.may_capture));
    TRY(write_output("", text));
    return 0;
  }
  for (const std::string& folder : options.folders)
    if (::access(folder.c_str(), R_OK) != 0)
      return fail(Code::not_found, "{}: {}", folder, errno_text(errno));
  TRY_ASSIGN(mcp::World world, world_of(options));
  if (!options.tool.empty()) return call(world, options);
  keep_freed_memory();
  net::allow_many_descriptors();
  TRY(mcp::serve_stdio(world, STDIN_FILENO, STDOUT_FILENO));
  return 0;
}

}  // namespace

Command mcp_command() {
  const auto options = std::make_shared<Options>();
  std::vector<Option> all = {
      {.names = {"--allow-capture"},
       .help = "also offer the tool that traces a job, at most 4 times an hour",
       .read = set(options->may_capture, true)},
      {.names = {"--print-config"},
       .value = "CLIENT",
       .help = "print what an assistant's configuration needs to have, and end: " + client_names(),
       .read = parsed(options->client, parse_client),
       .offer = offer_words(clients)},
  };
  append(all, {{.names = {"--call"},
                .value = "TOOL",
                .help = "ask one tool, print all rows of its answer, and end",
                .read = keep(options->tool)},
               {.names = {"--arguments"},
                .value = "JSON",
                .help = "of that tool: '{\"job\": \"4711\"}'",
                .read = keep(options->arguments)},
               format_option(options->format)});
  append(all, host_options(options->hosts));
  return {
      .name = "mcp",
      .summary = "Answer an assistant's questions (Model Context Protocol).",
      .arguments =
          {{.name = "FOLDER",
            .help =
                "folders; each folder in them with traces is a job that may be asked about, and nothing else is read. "
                "Without any, agents are asked: this host's, or those that are named by the options",
            .read = keep_each(options->folders),
            .offer = offer_folders(),
            .required = false,
            .many = true}},
      .options = std::move(all),
      .footer =
          "Speaks on standard input and output, a message a line, until its input ends: an assistant starts it.\n"
          "Examples: spotter mcp runs/\n          spotter mcp --print-config claude-code",
      .check = [options]() -> Result<void> {
        if (!options->folders.empty() && (!options->hosts.is_local() || !options->hosts.socket.empty()))
          return fail(Code::invalid, "FOLDER and the options for agents do not go together");
        if (options->tool.empty() && (!options->arguments.empty() || options->format != &render::kText))
          return fail(Code::invalid, "--arguments and --format go with --call");
        return {};
      },
      .action = [options]() -> Result<int> { return serve_mcp(*options); },
  };
}

}  // namespace spotter::app
