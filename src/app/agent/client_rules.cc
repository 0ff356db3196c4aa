#include "app/agent/client_rules.h"

#include <pwd.h>

#include "app/agent/yaml_map.h"
#include "base/text/strings.h"
#include "net/digest.h"

namespace spotter::app {
namespace {

constexpr size_t kDigestDigits = 64;

constexpr Key<agent::ClientRule> kClientKeys[] = {
    {"name",
     [](const YAML::Node& node, agent::ClientRule& client) -> Result<void> {
       client.name = scalar(node);
       return {};
     }},
    {"role",
     [](const YAML::Node& node, agent::ClientRule& client) -> Result<void> {
       const auto role = agent::role_of(scalar(node));
       if (!role)
         return fail(Code::invalid, "\"{}\" is none of view, trace, admin", to_printable(scalar(node)));
       client.role = *role;
       return {};
     }},
    {"user",
     [](const YAML::Node& node, agent::ClientRule& client) -> Result<void> {
       const passwd* user = getpwnam(scalar(node).c_str());
       if (!user) return fail(Code::invalid, "there is no user {} on this host", to_printable(scalar(node)));
       client.only_uid = user->pw_uid;
       return {};
     }},
    {"token_sha256",
     [](const YAML::Node& node, agent::ClientRule& client) -> Result<void> {
       client.token_sha256 = ascii_lower(scalar(node));
       if (client.token_sha256.size() != kDigestDigits ||
           client.token_sha256.find_first_not_of("0123456789abcdef") != std::string::npos)
         return fail(Code::invalid, "it must have {} hexadecimal digits: printf %s TOKEN | sha256sum",
                     kDigestDigits);
       if (client.token_sha256 == net::sha256(""))
         return fail(Code::invalid, "it is that of an empty token, which anybody can show");
       return {};
     }},
};

}  // namespace

Result<std::vector<agent::ClientRule>> read_client_rules(const YAML::Node& list) {
  if (!list.IsSequence()) return fail(Code::invalid, "it must be a list");
  std::vector<agent::ClientRule> clients;
  for (const YAML::Node& entry : list) {
    agent::ClientRule client;
    TRY(read_map<agent::ClientRule>(entry, kClientKeys, client));
    const std::string line = fmt::format("line {}", entry.Mark().line + 1);
    if (client.name.empty()) return fail(Code::invalid, "{}: a client needs a name", line);
    if (client.role == agent::AccessRole::nobody)
      return fail(Code::invalid, "{}: a client needs a role", line);
    clients.push_back(std::move(client));
  }
  return clients;
}

}  // namespace spotter::app
