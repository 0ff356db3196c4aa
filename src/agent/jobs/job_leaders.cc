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

// The same for all names of a host that differ by their domain; an address is whole.
std::string short_name(const std::string& host) {
  const bool is_address = host.find_first_not_of("0123456789.:") == host.npos;
  return ascii_lower(is_address ? host : host.substr(0, host.find('.')));
}

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
    if (known.insert(short_name(host)).second) leaders.hosts.push_back(std::move(host));
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

std::vector<std::string> common_hosts(std::span<const respond::Leaders> jobs, const std::string& host_name) {
  const auto names_of = [&](const respond::Leaders& job) {
    std::vector<std::string> names;
    for (size_t i = 0; i < job.hosts.size(); ++i)
      names.push_back(i == job.own ? host_name : short_name(job.hosts[i]));
    return names;
  };
  std::vector<std::string> common;
  for (const respond::Leaders& job : jobs) {
    const std::vector<std::string> names = names_of(job);
    if (&job == &jobs.front()) {
      common = names;
      continue;
    }
    const std::set<std::string> known(names.begin(), names.end());
    std::erase_if(common, [&](const std::string& name) { return !known.contains(name); });
  }
  if (std::ranges::find(common, host_name) == common.end()) common.push_back(host_name);
  return common;
}

}  // namespace spotter::agent
