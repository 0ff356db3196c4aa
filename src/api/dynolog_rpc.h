// The functions of Dynolog's RPC, with its names, defaults and replies; but a malformed request gets an
// object that says what is wrong with it. The peer is on this machine, and is the user that the kernel says
// it is.
#pragma once
#include <string>

#include "agent/agent.h"
#include "net/socket_owner.h"

namespace spotter::api {

struct RpcSite {
  agent::Agent& agent;
  bool is_for_all;  // whoever reaches this host may trace, known or not
};

std::string answer_rpc(const RpcSite& site, const Result<std::string>& request, const net::TcpEnds& ends);

}  // namespace spotter::api
