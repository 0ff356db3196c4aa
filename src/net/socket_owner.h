// Who has a socket that we cannot have.
#pragma once
#include <string>
#include <string_view>

#include "base/types.h"

namespace spotter::net {

// " by process 12 (dynolog)", or empty where it cannot be told. `name`: of a UNIX socket as /proc/net/unix
// has it (an abstract one begins with '@', and so is every NUL in it).
std::string owner_of_unix(std::string_view name);
// Of a TCP port that is listened to.
std::string owner_of_port(u16 port);

// The user that has the other end of a TCP connection on this machine: the socket bound to
// `local`:`local_port` that is connected to `remote`:`remote_port`, all as the other end sees them. -1 where
// it cannot be told, as of a socket that its process has closed. Addresses are 16 bytes, IPv4 ones mapped
// (::ffff:a.b.c.d).
struct TcpEnds {
  u8 local[16];
  u16 local_port;
  u8 remote[16];
  u16 remote_port;
};
i64 uid_of_connection(const TcpEnds& ends);

}  // namespace spotter::net
