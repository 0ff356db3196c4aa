#include "net/own_addresses.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <boost/asio/ip/address.hpp>
#include <cstring>
#include <memory>

namespace spotter::net {

bool is_own_address(const std::string& text) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(text, error);
  if (error) return false;
  if (address.is_loopback()) return true;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, freeifaddrs);
  for (const ifaddrs* each = all.get(); each; each = each->ifa_next) {
    if (!each->ifa_addr) continue;
    if (address.is_v4() && each->ifa_addr->sa_family == AF_INET) {
      sockaddr_in own{};
      std::memcpy(&own, each->ifa_addr, sizeof own);
      if (ntohl(own.sin_addr.s_addr) == address.to_v4().to_uint()) return true;
    } else if (address.is_v6() && each->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 own{};
      std::memcpy(&own, each->ifa_addr, sizeof own);
      if (std::memcmp(own.sin6_addr.s6_addr, address.to_v6().to_bytes().data(), sizeof own.sin6_addr) == 0)
        return true;
    }
  }
  return false;
}

}  // namespace spotter::net
