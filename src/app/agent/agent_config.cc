#include "app/agent/agent_config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "api/doors.h"
#include "app/agent/client_rules.h"
#include "app/agent/notifier_config.h"
#include "app/agent/respond_config.h"
#include "app/agent/telemetry_config.h"
#include "app/agent/yaml_map.h"
#include "app/capture/hosts.h"
#include "app/cli/words.h"
#include "base/system/file.h"
#include "base/text/quantity.h"
#include "base/text/utf8.h"
#include "collect/logs/log_places.h"
#include "respond/steps/step_lines.h"

namespace spotter::app {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

Result<bool> read_flag(const YAML::Node& node) {
  const std::string word = scalar(node);
  TRY(is_flag(word));
  return word == "true";
}

std::vector<std::string> one_or_more(const YAML::Node& node) {
  if (node.IsScalar()) return {scalar(node)};
  return node.as<std::vector<std::string>>();
}

constexpr Key<net::TlsFiles> kTlsKeys[] = {
    {"certificate",
     [](const YAML::Node& node, net::TlsFiles& files) -> Result<void> {
       files.certificate = scalar(node);
       return {};
     }},
    {"key",
     [](const YAML::Node& node, net::TlsFiles& files) -> Result<void> {
       files.key = scalar(node);
       return {};
     }},
    {"client_ca",
     [](const YAML::Node& node, net::TlsFiles& files) -> Result<void> {
       files.trusted = scalar(node);
       return {};
     }},
};

constexpr Key<store::HistoryOptions> kHistoryKeys[] = {
    {"file",
     [](const YAML::Node& node, store::HistoryOptions& history) -> Result<void> {
       TRY_ASSIGN(const auto options, parse_history(scalar(node)));
       if (!options) return fail(Code::invalid, "off stands for the whole: \"history: off\"");
       history.path = options->path;
       return {};
     }},
    {"size",
     [](const YAML::Node& node, store::HistoryOptions& history) -> Result<void> {
       TRY_ASSIGN(history.most_bytes, parse_size(scalar(node)));
       if (history.most_bytes < store::kLeastFileBytes)
         return fail(Code::invalid, "\"{}\" is too little; a history needs {}M at least",
                     to_printable(scalar(node)), store::kLeastFileBytes >> 20);
       return {};
     }},
};

constexpr Key<agent::TelemetryOptions> kDcgmKeys[] = {
    {"address",
     [](const YAML::Node& node, agent::TelemetryOptions& telemetry) -> Result<void> {
       telemetry.dcgm_address = scalar(node);
       return {};
     }},
    {"embedded",
     [](const YAML::Node& node, agent::TelemetryOptions& telemetry) -> Result<void> {
       TRY_ASSIGN(telemetry.dcgm_embedded, read_flag(node));
       return {};
     }},
};

Result<void> read_sinks(const YAML::Node& list, std::vector<agent::SinkOptions>& sinks) {
  if (!list.IsSequence()) return fail(Code::invalid, "it must be a list");
  sinks.clear();
  std::set<std::string> names{"history"};  // who takes samples, too
  std::set<std::string> places;
  for (const YAML::Node& entry : list) {
    const std::string line = fmt::format("line {}", entry.Mark().line + 1);
    TRY_ASSIGN(const Settings said, read_settings(entry, "sink"));
    auto checked = checked_sink(said);
    if (!checked) return within(checked.error(), line);
    const std::string name = sink::name_of(checked->kind, checked->settings);
    if (!names.insert(name).second)
      return fail(Code::invalid,
                  "{}: another sink, or the history, is called {}, too: give this one a \"name\" of its own",
                  line, to_printable(name));
    const std::string place = sink::unshared_of(checked->kind, checked->settings);
    if (!place.empty() && !places.insert(place).second)
      return fail(Code::invalid, "{}: another sink has the {}, too: they would write into each other", line,
                  to_printable(place));
    sinks.push_back(std::move(*checked));
  }
  return {};
}

api::RemoteDoorOptions& remote_of(AgentConfig& config) {
  if (!config.doors.remote) config.doors.remote.emplace();
  return *config.doors.remote;
}

constexpr Key<AgentConfig> kKeys[] = {
    {"api_socket",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       c.doors.api_socket = scalar(node);
       return {};
     }},
    {"ipc_directory",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       c.options.ipc_directory = scalar(node);
       return {};
     }},
    {"listen",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       TRY_ASSIGN(const net::HttpAddress address, parse_host(scalar(node)));
       remote_of(c).address = address.host;
       remote_of(c).port = address.port;
       c.listens = true;
       return {};
     }},
    {"tls",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       return read_map<net::TlsFiles>(node, kTlsKeys, remote_of(c).tls);
     }},
    {"clients",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       TRY_ASSIGN(c.options.clients, read_client_rules(node));
       return {};
     }},
    {"root",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       c.root = scalar(node);
       if (!c.root.starts_with('/'))
         return fail(Code::invalid, "\"{}\" must be absolute", to_printable(c.root));
       return {};
     }},
    {"collect",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       TRY_ASSIGN(c.options.telemetry.collectors, parse_collectors(scalar(node)));
       return {};
     }},
    {"dcgm",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       return read_map<agent::TelemetryOptions>(node, kDcgmKeys, c.options.telemetry);
     }},
    {"per_core",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       TRY_ASSIGN(c.options.telemetry.per_core, read_flag(node));
       return {};
     }},
    {"textfile_directory",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       const std::string folder = scalar(node);
       if (!folder.starts_with('/'))
         return fail(Code::invalid, "\"{}\" must be absolute", to_printable(folder));
       c.options.telemetry.textfile_directory = folder;
       return {};
     }},
    {"job_labels",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       c.options.telemetry.job_labels = node.as<std::vector<std::string>>();
       return {};
     }},
    {"step_log",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       c.options.telemetry.step_logs = one_or_more(node);
       for (const std::string& glob : c.options.telemetry.step_logs) TRY(collect::check_log_glob(glob));
       return {};
     }},
    {"step_line",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       c.options.telemetry.step_lines = one_or_more(node);
       TRY(respond::StepLines::make(c.options.telemetry.step_lines));
       return {};
     }},
    {"history",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       if (node.IsScalar()) {
         TRY_ASSIGN(c.options.telemetry.history, parse_history(scalar(node)));
         return {};
       }
       if (!c.options.telemetry.history) c.options.telemetry.history.emplace();
       return read_map<store::HistoryOptions>(node, kHistoryKeys, *c.options.telemetry.history);
     }},
    {"sinks",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       return read_sinks(node, c.options.telemetry.sinks);
     }},
    {"respond",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       return read_respond(node, c.options.respond);
     }},
    {"rules",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       return read_rules(node, c.options.respond.rules);
     }},
    {"notifiers",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       TRY_ASSIGN(c.options.notifiers, read_notifiers(node));
       return {};
     }},
    {"output_directories",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       c.options.output_directories = node.as<std::vector<std::string>>();
       for (const std::string& d : c.options.output_directories)
         if (!d.starts_with('/')) return fail(Code::invalid, "\"{}\" must be absolute", to_printable(d));
       return {};
     }},
    {"audit_log",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       c.options.audit_log = scalar(node);
       if (!c.options.audit_log.starts_with('/'))
         return fail(Code::invalid, "\"{}\" must be absolute", to_printable(c.options.audit_log));
       return {};
     }},
    {"helper",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       const std::string path = scalar(node);
       if (path != "off" && !path.starts_with('/'))
         return fail(Code::invalid, "\"{}\" is neither an absolute path nor off", to_printable(path));
       c.options.helper = path == "off" ? "" : path;
       return {};
     }},
    {"log_format",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       const std::string word = scalar(node);
       if (word != "text" && word != "json")
         return fail(Code::invalid, "\"{}\" is neither text nor json", to_printable(word));
       c.log_format = word == "json" ? LogFormat::json : LogFormat::text;
       return {};
     }},
    {"log_level",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       TRY_ASSIGN(c.log_level, parse_log_level(scalar(node)));
       return {};
     }},
};

// Settings of doors.
Result<bool> read_door_setting(const std::string& name, const YAML::Node& node, AgentConfig& c) {
  const Setting* const setting = api::find_door_setting(name);
  if (!setting) return false;
  const std::string word = scalar(node);
  if (setting->check) TRY(setting->check(word));
  c.doors.said[name] = word;
  return true;
}

// Other hosts come in by TLS or not at all, and as somebody.
Result<void> check_remote(const std::string& path, AgentConfig& config) {
  if (!config.listens) {
    config.doors.remote.reset();
    return {};
  }
  api::RemoteDoorOptions& remote = remote_of(config);
  if (remote.tls.certificate.empty() || remote.tls.key.empty())
    return fail(
        Code::invalid,
        "\"listen\" needs \"tls\" with a certificate and a key (`spotter agent --init-tls DIR` makes them)");
  if (config.options.clients.empty())
    return fail(Code::invalid, "\"listen\" needs \"clients\": who may do what");
  for (const agent::ClientRule& client : config.options.clients) {
    if (client.token_sha256.empty() && remote.tls.trusted.empty())
      return fail(Code::invalid,
                  "the client {} has no token, and without client_ca nobody's certificate is trusted",
                  to_printable(client.name));
  }
  for (std::string* file : {&remote.tls.certificate, &remote.tls.key, &remote.tls.trusted}) {
    if (!file->empty() && !file->starts_with('/'))
      *file = (std::filesystem::path(path).parent_path() / *file).string();
  }
  return {};
}

Result<void> read(const YAML::Node& file, const std::string& path, AgentConfig& config) {
  if (!file.IsNull()) {
    TRY(read_map<AgentConfig>(file, kKeys, config, read_door_setting));
    for (const auto& entry : file) config.texts[scalar(entry.first)] = YAML::Dump(entry.second);
  }
  return check_remote(path, config);
}

}  // namespace

Result<void> read_agent_config(const std::string& path, AgentConfig& config) {
  TRY_ASSIGN(const std::string text, read_small_file(path, kMostBytes));
  try {
    if (const Result<void> r = read(YAML::Load(text), path, config); !r) return within(r.error(), path);
  } catch (const YAML::Exception& e) {
    return fail(Code::invalid, "{}: line {}: {}", path, e.mark.line + 1, e.msg);
  }
  return {};
}

std::vector<std::string> changed_keys(const AgentConfig& before, const AgentConfig& now) {
  std::set<std::string> keys;
  for (const auto* texts : {&before.texts, &now.texts}) {
    for (const auto& [key, text] : *texts) {
      const auto old = before.texts.find(key), fresh = now.texts.find(key);
      const bool is_same =
          old != before.texts.end() && fresh != now.texts.end() && old->second == fresh->second;
      if (!is_same) keys.insert(key);
    }
  }
  for (const char* key : {"log_level", "log_format", "output_directories", "clients"}) keys.erase(key);
  return {keys.begin(), keys.end()};
}

Result<Level> parse_log_level(const std::string& word) {
  static constexpr std::pair<const char*, Level> kLevels[] = {
      {"debug", Level::debug}, {"info", Level::info}, {"warning", Level::warning}, {"error", Level::error}};
  for (const auto& [name, level] : kLevels) {
    if (word == name) return level;
  }
  return fail(Code::invalid, "\"{}\" is no log level; there are debug, info, warning, error", word);
}

}  // namespace spotter::app
