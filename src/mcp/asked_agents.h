// Agents that are asked by their API, with the credentials of who runs the server.
#pragma once
#include <string>
#include <vector>

#include "client/credentials.h"
#include "mcp/world.h"

namespace spotter::mcp {

class AskedAgents : public Agents {
 public:
  // `options`: as a command on a terminal names them.
  AskedAgents(std::vector<net::HttpAddress> addresses, client::Credentials credentials, std::string options);
  std::vector<std::string> names() const override { return names_; }
  std::vector<Result<net::HttpAnswer>> ask(std::span<const size_t> which,
                                           std::span<const net::HttpQuestion> questions, Ns longest,
                                           const Patience& patience) const override;
  std::string options() const override { return options_; }

 private:
  const std::vector<net::HttpAddress> addresses_;
  const client::Credentials credentials_;
  const std::string options_;
  std::vector<std::string> names_;
};

}  // namespace spotter::mcp
