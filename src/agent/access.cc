#include "agent/access.h"

#include <unistd.h>

#include <algorithm>

#include "base/text/utf8.h"
#include "net/digest.h"

namespace spotter::agent {
namespace {

constexpr size_t kMostPath = 1024;  // of 4,095 that the system allows, so that names have room

bool goes_up(const std::string& path) {
  return path == ".." || path.starts_with("../") || path.ends_with("/..") || path.find("/../") != path.npos;
}

bool is_in(const std::string& path, const std::string& directory) {
  if (directory == "/") return true;
  return path == directory || path.starts_with(directory + "/");
}

std::string without_slashes_at_end(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

std::optional<AccessRole> role_of(std::string_view name) {
  if (name == "view") return AccessRole::view;
  if (name == "trace") return AccessRole::trace;
  if (name == "admin") return AccessRole::admin;
  return std::nullopt;
}

Access::Access(std::vector<std::string> directories, std::vector<ClientRule> clients,
               std::optional<i64> unmapped)
    : directories_(std::move(directories)),
      clients_(std::move(clients)),
      own_uid_(geteuid()),
      unmapped_(unmapped) {
  for (std::string& d : directories_) d = without_slashes_at_end(d);
}

Peer Access::local(i64 uid, std::string from) const {
  Peer peer{AccessRole::nobody, uid, true, fmt::format("user {}", uid), std::move(from)};
  if (uid == unmapped_) {
    peer.name = fmt::format("user {}, as all look whom this user namespace does not map,", uid);
    return peer;
  }
  if (uid >= 0) peer.role = AccessRole::trace;
  if (uid == 0 || uid == own_uid_) {
    peer.role = AccessRole::admin;
    peer.only_uid.reset();
  }
  return peer;
}

Peer Access::remote(const net::StreamPeer& peer, std::string_view authorization) const {
  constexpr std::string_view bearer = "Bearer ";
  const std::string digest =
      authorization.starts_with(bearer) ? net::sha256(authorization.substr(bearer.size())) : std::string();
  // The better role of two, where somebody shows both.
  const ClientRule* best = nullptr;
  for (const ClientRule& client : clients_) {
    const bool is_it = client.token_sha256.empty()
                           ? !peer.certificate.empty() && client.name == peer.certificate
                           : client.token_sha256 == digest;
    if (is_it && (!best || client.role > best->role)) best = &client;
  }
  const std::string from = peer.address;
  if (!best) return {AccessRole::nobody, {}, false, "an unknown client", from};
  return {best->role, best->only_uid, false, "client " + best->name, from};
}

Peer Access::own(std::string_view name) {
  return {AccessRole::trace, {}, false, fmt::format("the agent, {}", name), "this agent"};
}

Result<void> Access::may(const Peer& peer, AccessRole role) const {
  if (peer.role >= role) return {};
  static constexpr const char* kDeeds[] = {"do nothing", "look", "trace", "end what somebody else began"};
  return fail(Code::denied, "{} may not {}", to_printable(peer.name), kDeeds[static_cast<size_t>(role)]);
}

Result<void> Access::may_trace(const Peer& peer, const kineto::Process& process) const {
  TRY(may(peer, AccessRole::trace));
  const bool is_somebodys = process.facts.uid != unmapped_;
  if (!peer.only_uid || (*peer.only_uid == process.facts.uid && is_somebodys)) return {};
  return fail(Code::denied, "{} may not trace process {}, which is user {}'s", to_printable(peer.name),
              process.facts.pid, process.facts.uid);
}

Result<void> Access::may_write(const Peer& peer, const std::string& path) const {
  const std::string shown = to_printable(path);
  if (path.size() > kMostPath)
    return fail(Code::invalid, "the path has {} bytes; {} at most", path.size(), kMostPath);
  if (!path.starts_with('/')) return fail(Code::invalid, "the path {} must be absolute", shown);
  if (goes_up(path)) return fail(Code::denied, "the path {} must not have \"..\"", shown);
  // '=' and '#' would end the line of the request, a control character the whole of it.
  if (path.find_first_of("=#") != path.npos || shown != path)
    return fail(Code::invalid, "the path {} must have no '=', '#' or control characters", shown);
  const auto inside = [&](const std::string& directory) { return is_in(path, directory); };
  if (std::any_of(directories_.begin(), directories_.end(), inside)) return {};
  if (peer.is_local && peer.only_uid && *peer.only_uid >= 0) return {};
  return fail(Code::denied, "{} is not in {}, where this agent lets traces be written (output_directories)",
              shown, fmt::join(directories_, " or "));
}

}  // namespace spotter::agent
