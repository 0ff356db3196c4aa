#include "notify/headline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/utf8.h"
#include "notify/message.h"
#include "notify/symptom.h"
#include "notify/words.h"
#include "render/render.h"
#include "respond/rules/list.h"

namespace spotter::notify {
namespace {

using namespace respond;

constexpr size_t kMostName = 32;  // characters of what others wrote

// What goes first where a headline has no room for all: hosts, which GPU, the job's name, its user. Never the
// suspect.
enum class Leave : u8 { nothing, hosts, gpu, name, user };

std::string whose(const Incident& i, Leave leave) {
  if (i.shared_by)
    return count_text(i.shared_by->job_count, "job", "jobs") + " on " + clean(i.host, kMostName);
  if (i.job.id.empty() && i.host.empty()) return "Cluster " + clean(i.cluster, kMostName);
  if (i.job.id.empty()) return "Host " + clean(i.host, kMostName);
  std::string text = "Job " + clean(i.job.id, kMostName);
  if (!i.job.name.empty() && leave < Leave::name) text += " " + clean(i.job.name, kMostName);
  if (!i.job.user.empty() && leave < Leave::user) text += " (" + clean(i.job.user, kMostName) + ")";
  return text;
}

std::string what_of(const Telling& telling, Leave leave) {
  const Incident& i = telling.incident;
  const bool is_over = telling.occasion == Occasion::resolved && i.ending == Ending::over;
  std::string text = whose(i, leave) + ": " + symptom_text(i);
  if (is_over && !is_moment(i))
    return text + fmt::format(", {} ({})", clocks_text(began(i), ended(telling), telling.at),
                              length_text(ended(telling) - began(i)));
  if (began(i) > 0) text += (is_moment(i) ? " at " : " since ") + clock_text(began(i), telling.at);
  if (is_over) return text + "; nothing more since";
  // Where metrics alone say the cause it is what was said already.
  if (i.verdict && i.verdict->cause != i.symptom.rule) {
    std::vector<Suspect> named = i.verdict->suspects;
    for (Suspect& suspect : named) {
      if (leave >= Leave::gpu && suspect.rank) suspect.gpu.reset();
    }
    const std::string suspects = suspects_text(named);
    text += "; " + spaced(i.verdict->cause) + (suspects.empty() ? "" : ": " + suspects);
  } else if (i.state == IncidentState::inconclusive) {
    text += "; no cause found";
  }
  const bool are_hosts_told = i.symptom.hosts > 1 && telling.occasion != Occasion::resolved;
  return are_hosts_told && leave < Leave::hosts ? text + " · " + count_text(i.symptom.hosts, "host", "hosts")
                                                : text;
}

}  // namespace

std::string spaced(std::string name) {
  if (name == respond::kRankOutlier.name) return "unlike its peers";
  std::ranges::replace(name, '_', ' ');
  return clean(name, kMostName);
}

Ns began(const Incident& i) { return i.symptom.since > 0 ? i.symptom.since : i.opened; }
Ns ended(const Telling& telling) {
  const Incident& i = telling.incident;
  // It is calm for a while before it is told to be over.
  return i.over > 0 ? i.over : i.closed > 0 ? i.closed : telling.at;
}

std::string what_of(const Telling& telling) {
  constexpr size_t kMostMark = 17;  // "▲ Seen no more · "
  for (const Leave leave : {Leave::nothing, Leave::hosts, Leave::gpu, Leave::name}) {
    const std::string text = what_of(telling, leave);
    if (display_width(text) + kMostMark <= kMostHeadline) return text;
  }
  return what_of(telling, Leave::user);
}

}  // namespace spotter::notify
