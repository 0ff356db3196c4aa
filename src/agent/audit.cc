#include "agent/audit.h"

#include "base/utf8.h"

namespace spotter::agent {
namespace {

constexpr size_t kMostPeers = 1024;  // those beyond share what is written

}  // namespace

void Audit::done(const Peer& peer, std::string_view what) {
  log(Level::info, "audit: {} ({}) {}", to_printable(peer.name), peer.from, what);
}

void Audit::refused(const Peer& peer, std::string_view what, const Error& why) {
  const bool has_own = refused_.size() < kMostPeers || refused_.contains(peer.name);
  LogLimit& limit = refused_[has_own ? peer.name : std::string()];
  limit.log(
      Level::info, loop_.now(),
      fmt::format("audit: {} ({}) {}: refused, {}", to_printable(peer.name), peer.from, what, why.message));
  if (limit.left_out() > 0) tell_later();
}

void Audit::tell_later() {
  if (std::exchange(tells_, true)) return;
  tell_.set(LogLimit::kPeriod, [this] {
    tells_ = false;
    for (const auto& [name, limit] : refused_) {
      if (limit.left_out() > 0)
        log(Level::info, "audit: {}: {} more refusals", name.empty() ? "others" : to_printable(name),
            limit.left_out());
    }
    refused_.clear();
  });
}

}  // namespace spotter::agent
