// The two ends of a TCP connection, as its other end sees them.
#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <cstring>

#include "net/socket_owner.h"

namespace spotter::net {

inline TcpEnds ends_of(const boost::asio::ip::tcp::socket& socket) {
  using boost::asio::ip::tcp;
  TcpEnds ends{};
  boost::system::error_code error;
  const auto put = [](const tcp::endpoint& end, u8(&address)[16], u16& port) {
    const auto v6 = end.address().is_v4()
                        ? boost::asio::ip::make_address_v6(boost::asio::ip::v4_mapped, end.address().to_v4())
                        : end.address().to_v6();
    const auto bytes = v6.to_bytes();
    std::memcpy(address, bytes.data(), bytes.size());
    port = end.port();
  };
  // The peer's own view: its local end is our remote one.
  put(socket.remote_endpoint(error), ends.local, ends.local_port);
  put(socket.local_endpoint(error), ends.remote, ends.remote_port);
  return ends;
}

}  // namespace spotter::net
