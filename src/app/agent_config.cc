#include "app/agent_config.h"

#include <yaml-cpp/yaml.h>

#include "app/words.h"
#include "base/file.h"
#include "base/utf8.h"

namespace spotter {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

std::string scalar(const YAML::Node& node) { return node.as<std::string>(); }

struct Key {
  const char* name;
  Result<void> (*read)(const YAML::Node& node, AgentConfig& config);
};

constexpr Key kKeys[] = {
    {"api_socket",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       c.options.api_socket = scalar(node);
       return {};
     }},
    {"ipc_directory",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       c.options.ipc_directory = scalar(node);
       return {};
     }},
    {"rpc_port",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       TRY_ASSIGN(c.options.rpc_port, parse_port(scalar(node)));
       return {};
     }},
    {"output_directories",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       c.options.output_directories = node.as<std::vector<std::string>>();
       for (const std::string& d : c.options.output_directories)
         if (!d.starts_with('/')) return fail(Code::invalid, "\"{}\" must be absolute", to_printable(d));
       return {};
     }},
    {"log_level",
     [](const YAML::Node& node, AgentConfig& c) -> Result<void> {
       TRY_ASSIGN(c.log_level, parse_log_level(scalar(node)));
       return {};
     }},
};

Result<void> read(const YAML::Node& file, AgentConfig& config) {
  if (file.IsNull()) return {};
  if (!file.IsMap()) return fail(Code::invalid, "it must be a list of KEY: VALUE");
  for (const auto& entry : file) {
    const std::string name = scalar(entry.first);
    const int line = entry.first.Mark().line + 1;
    const auto* key =
        std::find_if(std::begin(kKeys), std::end(kKeys), [&](const Key& k) { return name == k.name; });
    if (key == std::end(kKeys))
      return fail(Code::invalid, "line {}: there is no key {}", line, to_printable(name));
    if (const Result<void> r = key->read(entry.second, config); !r)
      return within(r.error(), fmt::format("line {}: {}", line, name));
  }
  return {};
}

}  // namespace

Result<void> read_agent_config(const std::string& path, AgentConfig& config) {
  TRY_ASSIGN(const std::string text, read_small_file(path, kMostBytes));
  try {
    if (const Result<void> r = read(YAML::Load(text), config); !r) return within(r.error(), path);
  } catch (const YAML::Exception& e) {
    return fail(Code::invalid, "{}: line {}: {}", path, e.mark.line + 1, e.msg);
  }
  return {};
}

Result<std::optional<u16>> parse_port(const std::string& word) {
  if (word == "off") return std::optional<u16>();
  const Result<i64> port = parse_number(word, 0, 65535);
  if (!port) return fail(Code::invalid, "\"{}\" is neither a port (0 to 65535) nor \"off\"", word);
  return std::optional<u16>(static_cast<u16>(*port));
}

Result<Level> parse_log_level(const std::string& word) {
  static constexpr std::pair<const char*, Level> kLevels[] = {
      {"debug", Level::debug}, {"info", Level::info}, {"warning", Level::warning}, {"error", Level::error}};
  for (const auto& [name, level] : kLevels) {
    if (word == name) return level;
  }
  return fail(Code::invalid, "\"{}\" is no log level; there are debug, info, warning, error", word);
}

}  // namespace spotter
