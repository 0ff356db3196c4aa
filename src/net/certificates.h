// Makes certificates: an authority of one's own, and what it vouches for. ECDSA on P-256, in PEM.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace spotter::net {

struct Certificate {
  std::string certificate, key;  // PEM
};

struct Subject {
  std::string name;                // common name, 1 to 64 bytes
  std::vector<std::string> names;  // DNS names and IP addresses by which it is asked
  bool is_server = false;          // else a client
};

Result<Certificate> make_authority(const std::string& name);
// Errors: invalid (`authority` is none, or a name is none).
Result<Certificate> issue(const Certificate& authority, const Subject& subject);

}  // namespace spotter::net
