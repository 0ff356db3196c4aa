// What shows an agent on another host who asks.
#pragma once
#include <memory>
#include <string>

#include "base/result.h"
#include "net/tls.h"

namespace spotter::client {

struct Credentials {
  std::shared_ptr<net::Tls> tls;
  std::string authorization;  // of HTTP; empty: the certificate says it
};

// `directory` holds ca.pem (whom to trust), and client.pem with client-key.pem, or a file `token`. Errors:
// not_found, denied, invalid.
Result<Credentials> read_credentials(const std::string& directory);

}  // namespace spotter::client
