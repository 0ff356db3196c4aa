#include "agent/audit.h"

#include <utility>

#include "base/text/utf8.h"
#include "base/time.h"
#include "sink/json_lines.h"

namespace spotter::agent {
namespace {

constexpr size_t kMostPeers = 1024;  // those beyond share what is written
constexpr u32 kMode = 0640;
constexpr i64 kLineBytes = 200;  // of a line, beside what he has a say in

constexpr Field kColumns[] = {
    {"time_ns", Type::integer, Unit::ns, Role::time, "When."},
    {"user", Type::text, Unit::none, Role::detail, "Who asked."},
    {"from", Type::text, Unit::none, Role::detail, "How he came."},
    {"asked", Type::text, Unit::none, Role::detail, "For what."},
    {"result", Type::text, Unit::none, Role::detail, "done or refused."},
    {"reason", Type::text, Unit::none, Role::detail, "Why it was refused."},
};

}  // namespace

Result<void> Audit::open(const std::string& file, const std::string& host_name) {
  sink::RunnerOptions runner;
  runner.name = "audit";
  runner.choice.tables = {"*"};
  TRY_ASSIGN(file_, sink::SinkRunner::start(sink::json_lines_file({.path = file, .mode = kMode}, host_name),
                                            std::move(runner)));
  return {};
}

std::optional<SinkState> Audit::state() const { return file_ ? std::optional(file_->state()) : std::nullopt; }

void Audit::write(std::string_view user, std::string_view from, std::string_view what,
                  std::string_view result, std::string_view reason) {
  if (!file_) {
    log(Level::info, "audit: {}{} {}{}{}", to_printable(user),
        from.empty() ? ":" : fmt::format(" ({})", from), what, reason.empty() ? "" : ": refused, ", reason);
    return;
  }
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = host_.unix_now();
  batch->by = "audit";
  Table& table = batch->tables.emplace_back("audit", kColumns);
  table.is_events = true;
  table.append({batch->unix_ns, user, or_null(from), what, result, or_null(reason)});
  file_->offer(batch);
}

Audit::Asker& Audit::asker(const Peer& peer) {
  const bool has_own = askers_.size() < kMostPeers || askers_.contains(peer.name);
  Asker& asker = askers_[has_own ? peer.name : std::string()];
  if (asker.day == 0 || loop_.now() - asker.day >= kDay) {
    asker.day = loop_.now();
    asker.bytes = 0;
  }
  return asker;
}

void Audit::write_of(const Peer& peer, std::string_view what, std::string_view result,
                     std::string_view reason) {
  Asker& asker = this->asker(peer);
  if (asker.bytes >= kMostOfOne) {
    ++asker.counted;
    return tell_later();
  }
  asker.bytes += kLineBytes + static_cast<i64>(what.size() + reason.size());
  write(peer.name, peer.from, what, result, reason);
  if (asker.bytes >= kMostOfOne)
    write(peer.name, peer.from,
          "has filled his share of this log: what he asks for until tomorrow is counted only", result, {});
}

void Audit::done(const Peer& peer, std::string_view what) { write_of(peer, what, "done", {}); }

void Audit::refused(const Peer& peer, std::string_view what, const Error& why) {
  LogLimit& limit = asker(peer).refusals;
  if (limit.pass(loop_.now())) write_of(peer, what, "refused", why.message);
  if (limit.left_out() > 0) tell_later();
}

void Audit::tell_later() {
  if (std::exchange(tells_, true)) return;
  tell_.set(LogLimit::kPeriod, [this] {
    tells_ = false;
    for (auto& [name, asker] : askers_) {
      const std::string_view shown = name.empty() ? "others" : std::string_view(name);
      if (const i64 more = asker.refusals.left_out(); more > 0)
        write(shown, {}, fmt::format("{} more refusals", more), "refused", {});
      if (asker.counted > 0) write(shown, {}, fmt::format("{} more requests", asker.counted), "done", {});
      asker.refusals = LogLimit();
      asker.counted = 0;
    }
    std::erase_if(askers_, [&](const auto& entry) { return loop_.now() - entry.second.day >= kDay; });
  });
}

}  // namespace spotter::agent
