#include "agent/audit.h"

#include "base/utf8.h"

namespace spotter::agent {

void Audit::done(const Peer& peer, std::string_view what) {
  log(Level::info, "audit: {} ({}) {}", to_printable(peer.name), peer.from, what);
}

void Audit::refused(const Peer& peer, std::string_view what, const Error& why) {
  refused_log_.log(
      Level::info, loop_.now(),
      fmt::format("audit: {} ({}) {}: refused, {}", to_printable(peer.name), peer.from, what, why.message));
}

}  // namespace spotter::agent
