#include "mcp/asked_agents.h"

#include "base/system/host.h"
#include "client/client.h"

namespace spotter::mcp {

AskedAgents::AskedAgents(std::vector<net::HttpAddress> addresses, client::Credentials credentials,
                         std::string options)
    : addresses_(std::move(addresses)), credentials_(std::move(credentials)), options_(std::move(options)) {
  for (const net::HttpAddress& address : addresses_)
    names_.push_back(address.socket.empty() ? address.host : host_name());
}

std::vector<Result<net::HttpAnswer>> AskedAgents::ask(std::span<const size_t> which,
                                                      std::span<const net::HttpQuestion> questions,
                                                      Ns longest, const Patience& patience) const {
  std::vector<net::HttpAddress> addresses;
  for (const size_t place : which) addresses.push_back(addresses_[place]);
  return client::ask_each(addresses, credentials_, questions, longest, patience.cancelled);
}

}  // namespace spotter::mcp
