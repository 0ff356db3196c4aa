#include "app/mcp/client_config.h"

#include <algorithm>
#include <filesystem>

#include "base/text/json_text.h"
#include "base/text/shell_word.h"
#include "base/text/suggestion.h"

namespace spotter::app {
namespace {

using Words = std::vector<std::string>;

std::string json_list(const Words& words) {
  std::string text = "[";
  for (const std::string& word : words) {
    text += text.size() == 1 ? "" : ", ";
    append_json_text(text, word);
  }
  return text + "]";
}

std::string json_word(const std::string& word) {
  std::string text;
  append_json_text(text, word);
  return text;
}

std::string servers(const std::string& program, const Words& arguments, const char* key, const char* more) {
  return fmt::format(
      "{{\n  \"{}\": {{\n    \"spotter\": {{\n{}      \"command\": {},\n      \"args\": {}\n    }}\n  }}\n}}\n",
      key, more, json_word(program), json_list(arguments));
}

std::string claude_code(const std::string& program, const Words& arguments) {
  return fmt::format("claude mcp add spotter -- {}\n", shell_word(program) + " " + shell_words(arguments));
}
std::string usual(const std::string& program, const Words& arguments) {
  return servers(program, arguments, "mcpServers", "");
}
std::string vscode(const std::string& program, const Words& arguments) {
  return servers(program, arguments, "servers", "      \"type\": \"stdio\",\n");
}
std::string codex(const std::string& program, const Words& arguments) {
  return fmt::format("[mcp_servers.spotter]\ncommand = {}\nargs = {}\n", json_word(program),
                     json_list(arguments));
}
std::string zed(const std::string& program, const Words& arguments) {
  return servers(program, arguments, "context_servers", "");
}

struct Client {
  const char *name, *place;  // place: of what is printed
  std::string (*config)(const std::string& program, const Words& arguments);
};
constexpr Client kClients[] = {
    {"claude-code", "a command for a terminal", claude_code},
    {"claude-desktop", "claude_desktop_config.json", usual},
    {"codex", "~/.codex/config.toml", codex},
    {"cursor", ".cursor/mcp.json of the project, or ~/.cursor/mcp.json", usual},
    {"gemini-cli", "~/.gemini/settings.json", usual},
    {"vscode", ".vscode/mcp.json of the project", vscode},
    {"windsurf", "~/.codeium/windsurf/mcp_config.json", usual},
    {"zed", "settings.json", zed},
};

}  // namespace

std::vector<std::string> clients() {
  std::vector<std::string> names;
  for (const Client& client : kClients) names.emplace_back(client.name);
  return names;
}

std::string client_names() { return fmt::format("{}", fmt::join(clients(), ", ")); }

Result<std::string> parse_client(const std::string& word) {
  const std::vector<std::string> names = clients();
  if (std::ranges::find(names, word) != names.end()) return word;
  return fail(Code::invalid, "there is no client \"{}\"{}", word,
              did_you_mean(word, names, "; there are " + client_names()));
}

Result<std::string> client_config(const std::string& client, const std::vector<std::string>& folders,
                                  const Words& agents, bool may_capture) {
  std::error_code failed;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) program = "spotter";
  Words arguments = {"mcp"};
  for (const std::string& folder : folders)
    arguments.push_back(std::filesystem::absolute(folder).lexically_normal().string());
  arguments.insert(arguments.end(), agents.begin(), agents.end());
  if (may_capture) arguments.emplace_back("--allow-capture");
  const auto it = std::ranges::find(kClients, client, &Client::name);
  return it->config(program.string(), arguments);
}

}  // namespace spotter::app
