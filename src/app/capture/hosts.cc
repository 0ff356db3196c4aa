#include "app/capture/hosts.h"

#include <cstdlib>
#include <filesystem>
#include <set>

#include "app/agent/agent_socket.h"
#include "app/capture/slurm.h"
#include "app/cli/readers.h"
#include "app/cli/words.h"
#include "base/host_list.h"
#include "base/system/file.h"
#include "base/text/utf8.h"
#include "net/address.h"

namespace spotter::app {
namespace {

constexpr size_t kMostHostfile = size_t{16} << 20;

std::string default_credentials() {
  if (const char* named = std::getenv("SPOTTER_CREDENTIALS"); named && *named) return named;
  if (const char* home = std::getenv("HOME"); home && *home) {
    const std::string own = std::string(home) + "/.config/spotter";
    std::error_code ignored;
    if (std::filesystem::exists(own, ignored)) return own;
  }
  return "/etc/spotter/client";
}

void keep_each_once(std::vector<net::HttpAddress>& addresses) {
  std::set<std::string> seen;
  std::erase_if(addresses, [&](const net::HttpAddress& a) { return !seen.insert(a.shown()).second; });
}

}  // namespace

std::vector<std::string> words_of(const HostOptions& hosts) {
  const std::pair<const char*, const std::string&> all[] = {{"--socket", hosts.socket},
                                                            {"--host", hosts.hosts},
                                                            {"--hostfile", hosts.hostfile},
                                                            {"--slurm-job", hosts.slurm_job},
                                                            {"--credentials", hosts.credentials}};
  std::vector<std::string> words;
  for (const auto& [name, word] : all)
    if (!word.empty()) words.insert(words.end(), {name, word});
  return words;
}

std::vector<Option> host_options(HostOptions& options) {
  return {
      socket_option(options.socket),
      {.names = {"--host"},
       .value = "LIST",
       .help = "ask the agents of these hosts: n1,gpu[01-16]:1779",
       .read = keep(options.hosts),
       .excludes = {"--hostfile", "--slurm-job"}},
      {.names = {"--hostfile"},
       .value = "FILE",
       .help = "ask the agents of the hosts in this file, one a line",
       .read = keep(options.hostfile),
       .offer = offer_files(),
       .excludes = {"--slurm-job"}},
      {.names = {"--slurm-job"},
       .value = "ID",
       .help = "ask the agents of this Slurm job's hosts",
       .read = keep(options.slurm_job)},
      {.names = {"--credentials"},
       .value = "DIR",
       .help =
           "what shows other hosts who asks: ca.pem, and client.pem with client-key.pem, or token; default: "
           "$SPOTTER_CREDENTIALS, ~/.config/spotter, /etc/spotter/client",
       .read = keep(options.credentials),
       .offer = offer_folders()}};
}

Result<net::HttpAddress> parse_host(const std::string& word) { return net::parse_address(word, kApiPort); }

Result<std::vector<net::HttpAddress>> parse_hosts(const std::string& words) {
  std::vector<net::HttpAddress> addresses;
  TRY_ASSIGN(const std::vector<std::string> expanded, expand_host_list(words));
  for (const std::string& word : expanded) {
    TRY_ASSIGN(net::HttpAddress address, parse_host(word));
    addresses.push_back(std::move(address));
  }
  return addresses;
}

Result<std::vector<net::HttpAddress>> parse_hostfile(const std::string& text) {
  std::vector<net::HttpAddress> addresses;
  size_t line_number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    ++line_number;
    line.resize(std::min(line.find('#'), line.size()));
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == line.npos) continue;
    const size_t word_end = std::min(line.find_first_of(" \t\r", begin), line.size());
    const auto hosts = parse_hosts(line.substr(begin, word_end - begin));
    if (!hosts) return within(hosts.error(), fmt::format("line {}", line_number));
    addresses.insert(addresses.end(), hosts->begin(), hosts->end());
  }
  if (addresses.empty()) return fail(Code::invalid, "it names no host");
  return addresses;
}

Result<Hosts> find_hosts(const HostOptions& options) {
  Hosts hosts;
  if (options.is_local()) {
    net::HttpAddress address;
    address.socket = socket_or_default(options.socket);
    address.is_usual_socket = options.socket.empty();
    hosts.addresses.push_back(address);
    return hosts;
  }
  if (!options.hosts.empty()) {
    TRY_ASSIGN(hosts.addresses, parse_hosts(options.hosts));
  } else if (!options.hostfile.empty()) {
    TRY_ASSIGN(const std::string text, read_small_file(options.hostfile, kMostHostfile));
    auto addresses = parse_hostfile(text);
    if (!addresses) return within(addresses.error(), options.hostfile);
    hosts.addresses = std::move(*addresses);
  } else {
    TRY_ASSIGN(const SlurmJob job, find_slurm_job(options.slurm_job));
    hosts.job = job.id;
    for (const SlurmNode& node : job.nodes) {
      net::HttpAddress address;
      address.host = node.name;
      address.port = kApiPort;
      address.connect_to = node.address;
      hosts.addresses.push_back(std::move(address));
    }
  }
  keep_each_once(hosts.addresses);
  const std::string directory = options.credentials.empty() ? default_credentials() : options.credentials;
  TRY_ASSIGN(hosts.credentials, client::read_credentials(directory));
  return hosts;
}

}  // namespace spotter::app
