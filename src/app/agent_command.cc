// agent: options and configuration file -> the doors of api/agent.h, until a signal ends it.
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "agent/agent.h"
#include "api/doors.h"
#include "app/agent_config.h"
#include "app/agent_socket.h"
#include "app/agent_tls_setup.h"
#include "app/commands.h"
#include "app/hosts.h"
#include "app/output.h"
#include "app/telemetry_config.h"

namespace spotter::app {
namespace {

constexpr mode_t kVisibleToAll = 0755, kOwn = 0700;

// The service manager's protocol: one datagram of text to the socket that the environment names
// (sd_notify(3)).
void tell_service_manager(std::string_view text) {
  const char* name = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (!name || std::strlen(name) >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, name);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  sendto(fd, text.data(), text.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
         static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(name)));
  close(fd);
}

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

Result<AgentConfig> configured(const Options& options) {
  AgentConfig config;
  config.options.telemetry.collectors = agent::usual_collectors();
  if (const std::string path = default_history(); !path.empty()) {
    config.options.telemetry.history.emplace();
    config.options.telemetry.history->path = path;
  }
  config.doors.api_socket = geteuid() == 0 ? system_socket() : user_socket();
  if (const char* directory = std::getenv("KINETO_IPC_SOCKET_DIR")) config.options.ipc_directory = directory;
  if (!options.config.empty()) TRY(read_agent_config(options.config, config));
  for (const auto& word : options.words) word(config);
  TRY(check(config));
  return config;
}

Result<void> make_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) return {};
  std::error_code error;
  if (std::filesystem::create_directories(folder, error))
    chmod(folder.c_str(), geteuid() == 0 ? kVisibleToAll : kOwn);
  if (error) return fail(Code::io, "the directory {} cannot be made: {}", folder.string(), error.message());
  return {};
}

// Only what can change while it runs.
void reload(const Options& options, agent::Agent& agent) {
  const Result<AgentConfig> config = configured(options);
  if (!config) return log(Level::error, "the configuration stays as it was: {}", config.error().message);
  set_log_level(config->log_level);
  agent.access = agent::Access(config->options.output_directories, config->clients);
  log(Level::info, "log level, output directories and clients are read again; all else needs a restart");
}

Result<int> run_agent(const Options& options) {
  TRY_ASSIGN(const AgentConfig config, configured(options));
  set_log_level(config.log_level);
  // A dozen threads that allocate little and seldom: one heap for all takes less memory than one for each.
  mallopt(M_ARENA_MAX, 1);
  TRY(make_folder_of(config.doors.api_socket));
  if (const auto& history = config.options.telemetry.history)
    std::ignore = make_folder_of(history->path);  // opening the history says what is wrong
  net::Loop loop;
  agent::Agent agent(loop, config.options, Host::at(config.root));
  std::unique_ptr<api::Doors> doors;
  bool is_open = false;
  // Before the first door is open: who sees one may want it closed again.
  loop.on_signals({SIGTERM, SIGINT, SIGHUP}, [&](int signal) {
    if (signal == SIGHUP) return is_open ? reload(options, agent) : void();
    tell_service_manager("STOPPING=1");
    loop.stop();
  });
  TRY(agent.listen());
  TRY_ASSIGN(doors, api::Doors::open(loop, agent, config.doors));
  TRY(agent.measure());
  is_open = true;
  tell_service_manager("READY=1");
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
  TRY_ASSIGN(const std::string made, set_up_tls(options.init_tls, names));
  TRY(write_output("", made));
  return 0;
}

}  // namespace

Action declare_agent(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  Options* o = options.get();
  // A word is read at once, so that a bad one is told, and set once the file has been read.
  const auto word = [&app, o](const char* name, const char* type, const char* help, auto read) {
    add_option(app, name, type, help, [o, read](const std::string& text) -> Result<void> {
      TRY_ASSIGN(auto value, read(text));
      o->words.push_back([value](AgentConfig& config) { value(config); });
      return {};
    });
  };
  using Set = std::function<void(AgentConfig&)>;
  app.add_option("--config", o->config, "configuration file; packaging/agent.yaml is an example")
      ->type_name("FILE");
  word("--ipc-dir", "DIR",
       "directory of the sockets of training processes; default: $KINETO_IPC_SOCKET_DIR, else none",
       [](const std::string& text) -> Result<Set> {
         return Set([text](AgentConfig& c) { c.options.ipc_directory = text; });
       });
  word("--api-socket", "PATH", "socket for `spotter trace`, `ps` and `status`",
       [](const std::string& text) -> Result<Set> {
         return Set([text](AgentConfig& c) { c.doors.api_socket = text; });
       });
  word("--rpc-port", "N",
       "port of Dynolog's RPC on this machine: 1778 by default, 0 for any free one, or off",
       [](const std::string& text) -> Result<Set> {
         TRY_ASSIGN(const auto port, parse_port(text));
         return Set([port](AgentConfig& c) { c.doors.rpc_port = port; });
       });
  word(
      "--collect", "LIST",
      "what is measured: all, off, or names with periods, as in \"all,-pmu,disk:10s\"; \"-pmu\" is all but it; "
      "`spotter metrics --list` names the collectors",
      [](const std::string& text) -> Result<Set> {
        TRY_ASSIGN(const auto collectors, parse_collectors(text));
        return Set([collectors](AgentConfig& c) { c.options.telemetry.collectors = collectors; });
      });
  word("--history", "FILE",
       "where samples are kept, or off; default: /var/lib/spotter/history.db for root, else below ~",
       [](const std::string& text) -> Result<Set> {
         TRY_ASSIGN(const auto history, parse_history(text));
         return Set([history](AgentConfig& c) {
           if (history && c.options.telemetry.history)
             c.options.telemetry.history->path = history->path;
           else
             c.options.telemetry.history = history;
         });
       });
  word("--prometheus", "ADDRESS:PORT", "where Prometheus may scrape /metrics, on this machine; default: off",
       [](const std::string& text) -> Result<Set> {
         TRY_ASSIGN(const auto door, parse_metrics_door(text));
         return Set([door](AgentConfig& c) { c.doors.prometheus = door; });
       });
  word("--log-level", "LEVEL", "debug, info, warning or error", [](const std::string& text) -> Result<Set> {
    TRY_ASSIGN(const Level level, parse_log_level(text));
    return Set([level](AgentConfig& c) { c.log_level = level; });
  });
  auto* init =
      app.add_option("--init-tls", o->init_tls,
                     "make an authority, and certificates and configurations for agents and for a client, in "
                     "this directory, and end")
          ->type_name("DIR");
  app.add_option("--tls-names", o->tls_names,
                 "by which names and addresses the agents are asked: n[1-3],10.0.0.1; default: this host's")
      ->type_name("LIST")
      ->needs(init);
  return [options]() -> Result<int> {
    return options->init_tls.empty() ? run_agent(*options) : init_tls(*options);
  };
}

}  // namespace spotter::app
