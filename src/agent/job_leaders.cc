#include "agent/job_leaders.h"

#include <algorithm>

#include "base/host_list.h"
#include "base/utf8.h"
#include "net/own_addresses.h"

namespace spotter::agent {
namespace {

std::string first_label(const std::string& name) { return name.substr(0, name.find('.')); }

}  // namespace

bool is_same_host(const std::string& a, const std::string& b) {
  if (a.find('.') != a.npos && b.find('.') != b.npos) return a == b;
  return first_label(a) == first_label(b);
}

bool is_this_host(const std::string& name, const std::string& host_name) {
  return name == "localhost" || net::is_own_address(name) ||
         is_same_host(ascii_lower(name), ascii_lower(host_name));
}

respond::Leaders job_leaders(const process::JobFacts& facts, const std::string& host_name) {
  respond::Leaders leaders;
  std::vector<std::string> hosts;
  if (!facts.first_host.empty()) hosts.push_back(facts.first_host);
  if (const auto nodes = expand_host_list(facts.node_list); nodes && !facts.node_list.empty())
    hosts.insert(hosts.end(), nodes->begin(), nodes->end());
  for (std::string& host : hosts) {
    const bool is_known = std::ranges::any_of(
        leaders.hosts, [&](const std::string& known) { return is_same_host(known, host); });
    if (!is_known) leaders.hosts.push_back(std::move(host));
  }
  const auto own = std::ranges::find_if(
      leaders.hosts, [&](const std::string& host) { return is_this_host(host, host_name); });
  leaders.own = static_cast<size_t>(own - leaders.hosts.begin());
  return leaders;
}

}  // namespace spotter::agent
