#include "report/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "render/render.h"

namespace spotter::report {
namespace {

bool is_damaged(const Notes& notes) {
  return std::ranges::any_of(
      notes.all(), [](const Note& n) { return n.severity == Severity::loss && n.kind != "no_trace"; });
}

}  // namespace

std::vector<std::string> headline(const diagnose::JobFacts& f) {
  std::set<std::string> devices, hosts;
  std::string mark;
  i64 ranks = 0, events = 0, world = 0, steps = 0;
  Ns span = 0;
  for (const diagnose::RankFacts& r : f.ranks) {
    ranks += r.rank.has_value();
    events += r.events;
    world = std::max(world, r.world_size.value_or(0));
    steps = std::max(steps, r.steps);
    span = std::max(span, r.span);
    if (!r.device.empty()) devices.insert(r.device);
    if (!r.host.empty()) hosts.insert(r.host);
    if (r.steps > 0 && mark.empty()) mark = r.step_mark;
  }
  std::vector<std::string> parts;
  if (f.ranks.size() == 1) parts.push_back(f.ranks[0].file);
  std::string who = ranks == 1 && f.ranks.size() == 1
                        ? fmt::format("rank {}", *f.ranks[0].rank)
                        : fmt::format("{} {}", ranks, ranks == 1 ? "rank" : "ranks");
  if (world > 0) who += fmt::format(" of {}", world);
  if (ranks > 0) parts.push_back(who);
  if (f.dumps > 0)
    parts.push_back(fmt::format("{} dump{} of flight recorders", f.dumps, f.dumps == 1 ? "" : "s"));
  if (hosts.size() == 1) parts.push_back("host " + *hosts.begin());
  if (hosts.size() > 1) parts.push_back(fmt::format("{} hosts", hosts.size()));
  for (const std::string& d : devices) parts.push_back(d);
  if (steps > 0) parts.push_back(fmt::format("{} step{} ({})", steps, steps == 1 ? "" : "s", mark));
  if (span > 0) parts.push_back(render::human_ns(span));
  if (!f.ranks.empty())
    parts.push_back(render::human(Value(events), Unit::count, Role::value) +
                    (events == 1 ? " event" : " events"));
  if (is_damaged(f.notes)) parts.push_back("damaged, see Notes");
  return parts;
}

}  // namespace spotter::report
