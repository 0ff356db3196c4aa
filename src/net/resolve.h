// Addresses of hosts by name, several at a time: a name server that is slow for one does not delay the
// others.
#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/loop.h"

namespace spotter::net {

// `done` is called on the loop's thread, unless the loop is gone by then: it must not own what needs the
// loop. Errors: not_found.
using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;
void resolve(Loop& loop, const std::string& host, u16 port, std::function<void(Result<Endpoints>)> done);

// 169.254.0.0/16 and fe80::/10, and fd00:ec2::254: there clouds tell their machines secrets.
bool is_link_local(const boost::asio::ip::address& address);

}  // namespace spotter::net
