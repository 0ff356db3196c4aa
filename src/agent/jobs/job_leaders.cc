#include "agent/jobs/job_leaders.h"

#include <algorithm>
#include <set>

#include "base/host_list.h"
#include "base/same_host.h"
#include "base/text/utf8.h"
#include "net/own_addresses.h"

namespace spotter::agent {
namespace {

constexpr i64 kMostNodes = 4096;  // of a list that are looked at

std::string first_label(const std::string& name) { return name.substr(0, name.find('.')); }

}  // namespace

bool is_this_host(const std::string& name, const std::string& host_name) {
  return name == "localhost" || net::is_own_address(name) || is_same_host(name, host_name);
}

respond::Leaders job_leaders(const process::JobFacts& facts, const std::string& host_name) {
  respond::Leaders leaders;
  std::vector<std::string> hosts;
  if (!facts.first_host.empty()) hosts.push_back(facts.first_host);
  if (const auto nodes = expand_host_list(facts.node_list); nodes && !facts.node_list.empty())
    hosts.insert(hosts.end(), nodes->begin(), nodes->begin() + std::min(std::ssize(*nodes), kMostNodes));
  std::set<std::string> known;
  for (std::string& host : hosts) {
    const bool has_parts = host.find_first_not_of("0123456789.:") != host.npos;
    if (known.insert(ascii_lower(has_parts ? first_label(host) : host)).second)
      leaders.hosts.push_back(std::move(host));
  }
  leaders.own = leaders.hosts.size();
  for (size_t i = leaders.hosts.size(); i-- > 0;) {
    // An address costs a question to the kernel: of those that may lead alone.
    const bool is_near = i < respond::Relay::kMostTurns;
    if (is_near ? is_this_host(leaders.hosts[i], host_name) : is_same_host(leaders.hosts[i], host_name))
      leaders.own = i;
  }
  return leaders;
}

}  // namespace spotter::agent
