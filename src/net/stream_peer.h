// Who is at the other end of a connection.
#pragma once
#include <string>

#include "base/types.h"

namespace spotter::net {

struct StreamPeer {
  i64 uid = -1, pid = 0;    // of a UNIX socket's, as the kernel knows them
  std::string address;      // of another one: IP address and port
  std::string certificate;  // common name of the trusted certificate that it showed
};

}  // namespace spotter::net
