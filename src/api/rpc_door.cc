// Dynolog's RPC, for dyno and what speaks like it.
#include <span>

#include "api/dynolog_rpc.h"
#include "api/list.h"
#include "base/log.h"
#include "base/text/quantity.h"
#include "net/framed_server.h"

namespace spotter::api {
namespace {

constexpr const char* kPort = "rpc_port";
constexpr const char* kForAll = "rpc_on_all_addresses_without_authentication";

// nullopt: off.
Result<std::optional<u16>> port_of(const std::string& word) {
  if (word == "off") return std::optional<u16>();
  const Result<i64> port = parse_number(word, 0, UINT16_MAX);
  if (!port) return fail(Code::invalid, "\"{}\" is neither a port (0 to 65535) nor \"off\"", word);
  return std::optional(static_cast<u16>(*port));
}

Result<void> is_port(const std::string& word) {
  TRY(port_of(word));
  return {};
}

constexpr Setting kSettings[] = {
    {kPort, "1778", "Port of Dynolog's RPC on this machine; 0 is any free one; or off.", is_port},
    {kForAll, "false", "Whether it is for other hosts, too; it asks nobody who he is.", is_flag},
};

class RpcDoor : public Door {
 public:
  static Result<std::unique_ptr<Door>> open(const DoorSite& site) {
    TRY_ASSIGN(const std::optional<u16> port, port_of(site.settings.at(kPort)));
    if (!port) return nullptr;
    static const std::string loopback[] = {"127.0.0.1", "::1"}, all[] = {"0.0.0.0", "::"};
    const bool for_all = site.settings.at(kForAll) == "true";
    auto door = std::make_unique<RpcDoor>();
    TRY_ASSIGN(door->server_,
               net::FramedServer::open(site.loop, for_all ? all : loopback, *port,
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

const DoorKind kRpcDoor = {
    .name = "dynolog rpc", .closed = "0 requests", .settings = kSettings, .open = RpcDoor::open};

}  // namespace spotter::api
