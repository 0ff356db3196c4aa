// The functions of Dynolog's RPC, with its names, defaults and replies; but a malformed request gets an
// object that says what is wrong with it. The peer is on this machine, and is the user that the kernel says
// it is.
#pragma once
#include <string>

#include "agent/agent.h"

namespace spotter::api {

std::string answer_rpc(agent::Agent& agent, const Result<std::string>& request, const net::TcpEnds& ends);

}  // namespace spotter::api
