#include "agent/audit.h"

#include <utility>

#include "base/text/utf8.h"
#include "sink/json_lines.h"

namespace spotter::agent {
namespace {

constexpr size_t kMostPeers = 1024;  // those beyond share what is written
constexpr u32 kMode = 0640;

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

void Audit::done(const Peer& peer, std::string_view what) { write(peer.name, peer.from, what, "done", {}); }

void Audit::refused(const Peer& peer, std::string_view what, const Error& why) {
  const bool has_own = refused_.size() < kMostPeers || refused_.contains(peer.name);
  LogLimit& limit = refused_[has_own ? peer.name : std::string()];
  if (limit.pass(loop_.now())) write(peer.name, peer.from, what, "refused", why.message);
  if (limit.left_out() > 0) tell_later();
}

void Audit::tell_later() {
  if (std::exchange(tells_, true)) return;
  tell_.set(LogLimit::kPeriod, [this] {
    tells_ = false;
    for (const auto& [name, limit] : refused_) {
      if (limit.left_out() > 0)
        write(name.empty() ? "others" : name, {}, fmt::format("{} more refusals", limit.left_out()),
              "refused", {});
    }
    refused_.clear();
  });
}

}  // namespace spotter::agent
