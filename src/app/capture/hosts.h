// Which agents a command asks: --socket (this host's), --host, --hostfile, --slurm-job.
#pragma once
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "client/credentials.h"
#include "net/http/http_client.h"

namespace spotter::app {

inline constexpr u16 kApiPort = 1779;  // of an agent that other hosts may ask

struct HostOptions {
  std::string socket, hosts, hostfile, slurm_job, credentials;
  bool is_local() const { return hosts.empty() && hostfile.empty() && slurm_job.empty(); }
};

struct Hosts {
  std::vector<net::HttpAddress> addresses;  // each once
  client::Credentials credentials;
  std::string job;  // that the processes have to be of; empty: any
};

std::vector<Option> host_options(HostOptions& options);
std::vector<std::string> words_of(const HostOptions& options);  // the same, as they were said
// Errors: invalid, not_found, denied, io (the scheduler does not answer).
Result<Hosts> find_hosts(const HostOptions& options);

// As net::parse_address() reads it.
Result<net::HttpAddress> parse_host(const std::string& word);
// "n1,gpu[01-16,20]:1779"
Result<std::vector<net::HttpAddress>> parse_hosts(const std::string& words);
// A host per line, with words behind it that are not for us ("slots=8"); # begins a comment.
Result<std::vector<net::HttpAddress>> parse_hostfile(const std::string& text);

}  // namespace spotter::app
