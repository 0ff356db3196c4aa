// Requests and replies of Dynolog's RPC over TCP: a little-endian i32 length, then that many bytes. One of
// each per connection. Whoever is slow, silent or gone costs others nothing: a request has kRequestTime and
// kMostBytes, and of more than kMostConnections the one that has waited longest is closed.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "base/types.h"
#include "net/loop.h"
#include "net/socket_owner.h"

namespace spotter::net {

class FramedServer {
 public:
  static constexpr Ns kRequestTime = 5 * kSecond;
  static constexpr size_t kMostBytes = size_t{1} << 20;
  static constexpr size_t kMostConnections = 512;

  // What the peer sent, or why it is none that could be read (an Error's message). The reply goes out as it
  // is given.
  using Handler = std::function<std::string(const Result<std::string>& request, const TcpEnds& ends)>;

  // `port` 0: any free one. Listens on every address; an IPv6 one that the system does not have is left out
  // if another one is there. Errors: io; where the port is taken, with who has it.
  static Result<std::unique_ptr<FramedServer>> open(Loop& loop, std::span<const std::string> addresses,
                                                    u16 port, Handler handler);
  ~FramedServer();
  u16 port() const;
  size_t connections() const;
  i64 closed_for_room() const;  // connections that had to go for newer ones

 private:
  struct Body;
  explicit FramedServer(std::shared_ptr<Body> body);
  std::shared_ptr<Body> body_;
};

}  // namespace spotter::net
