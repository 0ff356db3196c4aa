#include "diagnose/mechanisms/standstill.h"

#include <algorithm>

#include "base/lower_median.h"
#include "base/saturated.h"
#include "base/time.h"
#include "diagnose/mechanisms/words.h"
#include "trace/facts/collective_marks.h"

namespace spotter::diagnose {
namespace {

using analyze::SkeletonOp;
using analyze::SkeletonRow;

constexpr Ns kLeast = 300 * kMillisecond;

// Where a rank's host was when its recording ended.
struct Inside {
  u32 rank;
  std::string_view name = {};  // of the innermost span; empty: in none
  Ns since = 0;                // until the recording's end
  bool is_waiting = false;     // for others: a collective had not ended
  bool has_devices = false;
};

bool is_call(std::string_view name) {
  return trace::is_collective_mark(name) || name.starts_with("c10d::") || name == "record_param_comms";
}

Inside inside(const JobModel& model, u32 r) {
  const analyze::RankProgram& rank = model.job.ranks[r];
  Inside at{.rank = r};
  Ns latest = -kMaxTime;
  for (const SkeletonRow& row : rank.rows()) {
    if (row.op != SkeletonOp::open_span) continue;
    const std::string_view name = rank.skeleton.strings[row.name];
    at.is_waiting |= is_call(name);
    at.has_devices |= row.number > 0;
    if (row.at < latest) continue;  // threads follow one another
    latest = row.at;
    at.name = name;
    at.since = subtract_saturated(rank.recorded_until.value_or(row.at), row.at);
  }
  return at;
}

}  // namespace

std::optional<Candidate> standstill(const JobModel& model) {
  const std::set<i64>& silent = model.evidence.silent;
  if (silent.empty() || model.evidence.has_device_work) return {};
  std::vector<Inside> held;
  std::vector<Ns> times;
  size_t waiting = silent.size();
  for (u32 r = 0; r < model.job.ranks.size(); ++r) {
    const Inside at = inside(model, r);
    if (at.is_waiting) {
      ++waiting;
      continue;
    }
    if (at.name.empty() || at.since < kLeast || at.has_devices) return {};
    held.push_back(at);
    times.push_back(at.since);
  }
  if (held.empty() || held.size() >= waiting) return {};
  Candidate c;
  for (const Inside& at : held) c.ranks.push_back(at.rank);
  c.subject = held[0].name;
  c.what = fmt::format(
      "{} {} inside {} for the last {} of {} recording, while {} {} began nothing", host_of(model, c.ranks),
      held.size() == 1 ? "was" : "were", render::short_name(c.subject, 56), human(lower_median(times)),
      held.size() == 1 ? "its" : "their", silent.size() == 1 ? "rank" : "ranks", analyze::range_text(silent));
  c.is_certain = true;
  c.against = "what the others wait in had begun before, and was not recorded";
  return c;
}

}  // namespace spotter::diagnose
