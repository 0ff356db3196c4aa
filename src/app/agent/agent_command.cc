// agent: options and configuration file -> the agent (agent/agent.h) and its doors (api/doors.h), until a
// signal ends it.
#include <fmt/ranges.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "agent/agent.h"
#include "api/doors.h"
#include "app/agent/agent_config.h"
#include "app/agent/agent_socket.h"
#include "app/agent/agent_tls_setup.h"
#include "app/agent/service_manager.h"
#include "app/agent/telemetry_config.h"
#include "app/capture/hosts.h"
#include "app/cli/interruption.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/metrics/metric_words.h"
#include "base/system/safe_folder.h"
#include "base/text/utf8.h"

namespace spotter::app {
namespace {

constexpr const char* kHelperSocket = "/run/spotter-helper.sock";  // packaging/spotter-helper.socket
constexpr mode_t kVisibleToAll = 0755, kForAll = 01777, kOwn = 0700;

// Code and constants that only the beginning needed are most of what is in memory; what is used again comes
// back from the page cache. Only what the files of the program say: nothing that was written to.
void let_go_of_beginning() {
  const auto let_go = [](dl_phdr_info* object, size_t, void*) {
    for (const ElfW(Phdr) & part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
      if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
      const auto page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
      const ElfW(Addr) begin = (object->dlpi_addr + part.p_vaddr) / page * page;
      madvise(reinterpret_cast<void*>(begin), object->dlpi_addr + part.p_vaddr + part.p_memsz - begin,
              MADV_DONTNEED);
    }
    return 0;
  };
  dl_iterate_phdr(let_go, nullptr);
}

struct Options {
  std::string config, init_tls, tls_names;
  // Words of the command line count before the file's.
  std::vector<std::function<void(AgentConfig&)>> words;
};

// Beside the history, as incidents.db where that is history.db: agents whose histories are in one folder have
// files of their own. Empty where nothing is to be kept on a disk.
std::string incidents_beside(const std::optional<store::HistoryOptions>& history) {
  if (!history) return {};
  const std::filesystem::path path = history->path;
  std::error_code none;
  if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none)) return {};
  const std::string stem = path.stem();
  return path.parent_path() / (stem == "history" ? "incidents.db" : stem + "-incidents.db");
}

Result<AgentConfig> configured(const Options& options) {
  AgentConfig config;
  config.options.telemetry.collectors = agent::usual_collectors();
  if (const std::string path = default_history(); !path.empty()) {
    config.options.telemetry.history.emplace();
    config.options.telemetry.history->path = path;
  }
  config.options.respond.is_on = true;
  config.doors.api_socket = own_socket();
  if (geteuid() != 0 && serves_all_users()) config.options.helper = kHelperSocket;
  if (const char* directory = std::getenv("KINETO_IPC_SOCKET_DIR")) config.options.ipc_directory = directory;
  if (!options.config.empty()) TRY(read_agent_config(options.config, config));
  for (const auto& word : options.words) word(config);
  TRY(api::check(config.doors));
  agent::RespondOptions& respond = config.options.respond;
  respond.is_on = respond.is_on && !config.options.telemetry.collectors.empty();
  if (respond.is_on) config.options.incidents_file = incidents_beside(config.options.telemetry.history);
  respond.socket = std::filesystem::absolute(config.doors.api_socket);  // its child is in another folder
  return config;
}

Result<void> make_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) TRY(make_safe_folder(folder, serves_all_users() ? kVisibleToAll : kOwn));
  return {};
}

// Only what can change while it runs; of what else has changed since it began it says that.
void reload(const Options& options, const AgentConfig& begun_with, agent::Agent& agent) {
  const Result<AgentConfig> config = configured(options);
  if (!config) return log(Level::error, "the configuration stays as it was: {}", config.error().message);
  set_log_level(config->log_level);
  set_log_format(config->log_format);
  agent.access = agent::Access(config->options.output_directories, config->options.clients);
  log(Level::info, "log_level, log_format, output_directories and clients are read again");
  const std::vector<std::string> others = changed_keys(begun_with, *config);
  if (!others.empty())
    log(Level::warning, "changed since the agent began, and waiting for a restart: {}",
        fmt::join(others, ", "));
}

Result<int> run_agent(const Options& options) {
  TRY_ASSIGN(const AgentConfig config, configured(options));
  set_log_level(config.log_level);
  set_log_format(config.log_format);
  // A dozen threads that allocate little and seldom: one heap for all takes less memory than one for each.
  mallopt(M_ARENA_MAX, 1);
  TRY(make_folder_of(config.doors.api_socket));
  if (const std::string& folder = config.options.ipc_directory; !folder.empty()) {
    if (const auto above = make_folder_of(folder); !above) return within(above.error(), folder);
    TRY(make_safe_folder(folder, serves_all_users() ? kForAll : kOwn));
  }
  if (const auto& history = config.options.telemetry.history)
    std::ignore = make_folder_of(history->path);  // opening the history says what is wrong
  net::Loop loop;
  agent::Agent agent(loop, config.options, Host::at(config.root));
  std::unique_ptr<api::Doors> doors;
  bool is_open = false;
  // Before the first door is open: who sees one may want it closed again.
  loop.on_signals({SIGTERM, SIGINT, SIGHUP}, [&](int signal) {
    if (signal == SIGHUP) return is_open ? reload(options, config, agent) : void();
    tell_service_manager("STOPPING=1");
    loop.stop();
  });
  TRY(agent.listen());
  TRY_ASSIGN(doors, api::Doors::open(loop, agent, config.doors));
  TRY(agent.measure());
  is_open = true;
  tell_service_manager("READY=1");
  const Heartbeat heartbeat(loop);
  log(Level::info, "spotter agent: ready");
  let_go_of_beginning();
  loop.run();
  log(Level::info, "spotter agent: stopped");
  return 0;
}

Result<int> init_tls(const Options& options) {
  std::vector<std::string> names = names_of_this_host();
  if (!options.tls_names.empty()) {
    TRY_ASSIGN(const auto hosts, parse_hosts(options.tls_names));
    names.clear();
    for (const net::HttpAddress& host : hosts) names.push_back(host.host);
  }
  say_when_interrupted(fmt::format("{} is not whole; remove it", to_printable(options.init_tls)));
  TRY_ASSIGN(const std::string made, set_up_tls(options.init_tls, names));
  TRY(write_output("", made));
  return 0;
}

// A word is read at once, so that a bad one is told, and set once the file has been read: `set` is
// called with the configuration and what `parse` made of the word.
template <class Parse, class Set>
Read for_later(Options& options, Parse parse, Set set) {
  return [&options, parse, set](const std::string& text) -> Result<void> {
    TRY_ASSIGN(auto value, parse(text));
    options.words.push_back([value, set](AgentConfig& config) { set(config, value); });
    return {};
  };
}

Result<std::string> as_it_is(const std::string& text) { return text; }

Read door_setting(Options& options, const char* key) {
  const Setting* const setting = api::find_door_setting(key);
  CHECK(setting);
  const auto checked = [setting](const std::string& text) -> Result<std::string> {
    if (setting->check) TRY(setting->check(text));
    return text;
  };
  return for_later(options, checked,
                   [key](AgentConfig& c, const std::string& word) { c.doors.said[key] = word; });
}

void set_history(AgentConfig& config, const std::optional<store::HistoryOptions>& said) {
  auto& history = config.options.telemetry.history;
  if (said && history)
    history->path = said->path;
  else
    history = said;
}

std::vector<Option> agent_options(Options& o) {
  return {
      {.names = {"--config"},
       .value = "FILE",
       .help = "configuration file; packaging/agent.yaml is an example",
       .read = keep(o.config),
       .offer = offer_files()},
      {.names = {"--ipc-dir"},
       .value = "DIR",
       .help = "directory of the sockets of training processes; default: $KINETO_IPC_SOCKET_DIR, else none",
       .read = for_later(o, as_it_is,
                         [](AgentConfig& c, const std::string& text) { c.options.ipc_directory = text; }),
       .offer = offer_folders()},
      {.names = {"--api-socket"},
       .value = "PATH",
       .help = "socket for `spotter trace`, `ps` and `status`",
       .read =
           for_later(o, as_it_is, [](AgentConfig& c, const std::string& text) { c.doors.api_socket = text; }),
       .offer = offer_files()},
      {.names = {"--rpc-port"},
       .value = "N",
       .help = "port of Dynolog's RPC on this machine: 1778 by default, 0 for any free one, or off",
       .read = door_setting(o, "rpc_port")},
      {.names = {"--collect"},
       .value = "LIST",
       .help =
           "what is measured: all, off, or names with periods, as in \"all,-pmu,disk:10s\"; \"-pmu\" is all but "
           "it; `spotter metrics --list` names the collectors",
       .read = for_later(o, parse_collectors,
                         [](AgentConfig& c, const auto& all) { c.options.telemetry.collectors = all; }),
       .offer = offer_words(collector_words)},
      {.names = {"--history"},
       .value = "FILE",
       .help = "where samples are kept, or off; default: /var/lib/spotter/history.db for root, else below ~",
       .read = for_later(o, parse_history, set_history),
       .offer = offer_files()},
      {.names = {"--prometheus"},
       .value = "ADDRESS:PORT",
       .help = "where Prometheus may scrape /metrics, on this machine; default: off",
       .read = door_setting(o, "prometheus")},
      {.names = {"--log-level"},
       .value = "LEVEL",
       .help = "debug, info, warning or error",
       .read = for_later(o, parse_log_level, [](AgentConfig& c, Level level) { c.log_level = level; }),
       .offer = offer_words([] { return std::vector<std::string>{"debug", "info", "warning", "error"}; })},
      {.names = {"--init-tls"},
       .value = "DIR",
       .help =
           "make an authority, and certificates and configurations for agents and for a client, in this directory, "
           "and end",
       .read = keep(o.init_tls),
       .offer = offer_folders()},
      {.names = {"--tls-names"},
       .value = "LIST",
       .help = "by which names and addresses the agents are asked: n[1-3],10.0.0.1; default: this host's",
       .read = keep(o.tls_names),
       .needs = {"--init-tls"}},
  };
}

}  // namespace

Command agent_command() {
  const auto options = std::make_shared<Options>();
  return {
      .name = "agent",
      .summary = "Run this host's agent.",
      .options = agent_options(*options),
      .action = [options]() -> Result<int> {
        return options->init_tls.empty() ? run_agent(*options) : init_tls(*options);
      },
  };
}

}  // namespace spotter::app
