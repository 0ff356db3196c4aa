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

// What goes first where a headline has no room for all: hosts, which GPU, the job's name, its user, domains
// of hosts, all suspects but one. Never the suspect.
enum class Leave : u8 { nothing, hosts, gpu, name, user, domains, other_suspects };

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

// `most`: characters of what is wrong.
std::string what_of(const Telling& telling, Leave leave, size_t most = std::string::npos) {
  const Incident& i = telling.incident;
  const bool is_over = telling.occasion == Occasion::resolved && i.ending == Ending::over;
  std::string text = whose(i, leave) + ": " + cut_characters(symptom_text(i), most);
  const bool is_by_hand = is_over && !i.resolved_by.empty();
  if (is_over && !is_by_hand && !is_moment(i))
    return text + fmt::format(", {} ({})", clocks_text(began(i), ended(telling), telling.at),
                              length_text(ended(telling) - began(i)));
  if (began(i) > 0) text += (is_moment(i) ? " at " : " since ") + clock_text(began(i), telling.at);
  if (is_by_hand) return text + "; resolved by " + clean(i.resolved_by, kMostName);
  if (is_over) return text + "; over since " + clock_text(ended(telling), telling.at);
  // Where metrics alone say the cause it is what was said already.
  if (i.verdict && i.verdict->cause != i.symptom.rule) {
    std::vector<Suspect> named = i.verdict->suspects;
    for (Suspect& suspect : named) {
      if (leave >= Leave::gpu && suspect.rank) suspect.gpu.reset();
    }
    const size_t others = named.empty() ? 0 : named.size() - 1;
    std::string suspects;
    if (leave == Leave::other_suspects && others > 0)
      suspects = suspect_text(named.front()) + fmt::format(" and {} more", others);
    else
      suspects = suspects_text(named);
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

Telling without_domains(Telling telling) {
  const auto cut = [](std::string& host) { host = without_domain(host); };
  cut(telling.incident.host);
  for (respond::Condition& condition : telling.incident.conditions) cut(condition.host);
  if (auto& verdict = telling.incident.verdict) {
    for (respond::Suspect& suspect : verdict->suspects) cut(suspect.host);
  }
  return telling;
}

bool is_again(const Telling& telling) {
  const Incident& i = telling.incident;
  return telling.occasion == Occasion::changed && i.fired_again != 0 && i.fired_again == i.updated;
}

bool is_still(const Telling& telling) {
  const Incident& i = telling.incident;
  return telling.occasion == Occasion::changed && i.repeated != 0 && i.repeated == i.updated;
}

std::string what_of(const Telling& telling) {
  // "■ Critical again · ", "■ Critical still · ", "▲ Seen no more · "
  const size_t most_mark = is_again(telling) || is_still(telling) ? 19 : 17;
  for (const Leave leave : {Leave::nothing, Leave::hosts, Leave::gpu, Leave::name, Leave::user}) {
    const std::string text = what_of(telling, leave);
    if (display_width(text) + most_mark <= kMostHeadline) return text;
  }
  const Telling shorter = without_domains(telling);
  for (const Leave leave : {Leave::domains, Leave::other_suspects}) {
    const std::string text = what_of(shorter, leave);
    if (display_width(text) + most_mark <= kMostHeadline) return text;
  }
  // What is wrong is cut before the suspect is.
  constexpr size_t kLeast = 20;
  const size_t too_wide = display_width(what_of(shorter, Leave::other_suspects)) + most_mark - kMostHeadline;
  const size_t width = display_width(symptom_text(shorter.incident));
  return what_of(shorter, Leave::other_suspects, std::max(kLeast, width - std::min(width, too_wide)));
}

}  // namespace spotter::notify
