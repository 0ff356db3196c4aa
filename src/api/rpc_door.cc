// Dynolog's RPC, for dyno and what speaks like it.
#include <span>

#include "api/dynolog_rpc.h"
#include "api/list.h"
#include "base/log.h"
#include "net/framed_server.h"

namespace spotter::api {
namespace {

class RpcDoor : public Door {
 public:
  static Result<std::unique_ptr<Door>> open(const DoorSite& site) {
    if (!site.options.rpc_port) return nullptr;
    static const std::string loopback[] = {"127.0.0.1", "::1"}, all[] = {"0.0.0.0", "::"};
    const bool for_all = site.options.rpc_on_all_addresses_without_authentication;
    auto door = std::make_unique<RpcDoor>();
    TRY_ASSIGN(door->server_,
               net::FramedServer::open(site.loop, for_all ? all : loopback, *site.options.rpc_port,
                                       [&agent = site.agent, for_all, requests = door->requests_](
                                           const Result<std::string>& request, const net::TcpEnds& ends) {
                                         ++*requests;
                                         return answer_rpc({agent, for_all}, request, ends);
                                       }));
    log(Level::info, "dynolog rpc on {}:{}", (for_all ? all : loopback)[0], door->server_->port());
    if (for_all) log(Level::warning, "dynolog rpc: whoever reaches this host may trace every process on it");
    return door;
  }
  size_t connections() const override { return server_->connections(); }
  i64 closed_for_room() const override { return server_->closed_for_room(); }
  std::string detail() const override { return fmt::format("{} requests", *requests_); }

 private:
  std::shared_ptr<i64> requests_ = std::make_shared<i64>(0);
  std::unique_ptr<net::FramedServer> server_;
};

}  // namespace

const DoorKind kRpcDoor = {.name = "dynolog rpc", .closed = "0 requests", .open = RpcDoor::open};

}  // namespace spotter::api
