#include "notify/message.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/quantity.h"
#include "base/text/shell_word.h"
#include "base/text/utf8.h"
#include "notify/headline.h"
#include "notify/symptom.h"
#include "notify/words.h"
#include "render/render.h"
#include "respond/alerts/alert.h"
#include "respond/rules/list.h"

namespace spotter::notify {
namespace {

using namespace respond;

// Characters of what others wrote.
constexpr size_t kMostName = 32, kMostSentence = 300, kMostLine = 160, kMostQuoted = 120, kMostCommand = 160;
constexpr size_t kMostEvidence = 3, kMostCommands = 3;
constexpr i64 kMostPlausible = i64{1} << 40;

// Whole ones, as many as there is room for; the first one in any case.
std::string joined(const std::vector<std::string>& texts, size_t most_characters) {
  constexpr size_t kMostMark = 14;  // "; and 12 more"
  std::string all;
  for (size_t k = 0; k < texts.size(); ++k) {
    const std::string text = (k == 0 ? "" : "; ") + clean(texts[k], most_characters);
    if (k > 0 && display_width(all + text) + (k + 1 < texts.size() ? kMostMark : 0) > most_characters)
      return all + fmt::format("; and {} more", texts.size() - k);
    all += text;
  }
  return all;
}

// What speaks against the verdict itself, not against other causes.
bool is_doubt(const std::string& text) { return text.starts_with(respond::kDoubt); }

// "gpu05 and gpu06"; of many the first.
std::string listed(const std::vector<std::string>& names, i64 count) {
  constexpr size_t kMost = 6;
  const size_t shown = std::min(names.size(), kMost);
  const i64 more = count - static_cast<i64>(shown);
  std::string text;
  for (size_t k = 0; k < shown; ++k)
    text += (k == 0 ? "" : k + 1 == shown && more <= 0 ? " and " : ", ") + clean(names[k], kMostName);
  return more > 0 ? text + fmt::format(" and {} more", more) : text;
}

// "0-7,37"; 0: it is not said.
i64 ranks_of(const std::string& list) {
  i64 count = 0;
  for (const std::string& word : split_commas(list)) {
    const size_t dash = std::min(word.find('-'), word.size());
    const auto first = whole_number(std::string_view(word).substr(0, dash));
    const auto last = dash == word.size() ? first : whole_number(std::string_view(word).substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kMostPlausible) return 0;
    count += *last - *first + 1;
    if (count > kMostPlausible) return 0;
  }
  return count;
}

std::string capture_text(const CaptureOfIncident& c) {
  std::string text = "a capture";
  if (c.ranks == "all")
    text += " of all ranks";
  else if (c.ranks.starts_with(respond::kOneProcess))
    text += " of one process";
  else if (c.ranks == respond::kOneHost)
    text += " of one host";
  else if (const i64 ranks = ranks_of(c.ranks); ranks > 0)
    text += " of " + count_text(ranks, "rank", "ranks");
  if (c.steps > 0) text += ", " + count_text(c.steps, "step", "steps");
  return text;
}

std::string tried(const Incident& i) {
  std::string text;
  for (const CaptureOfIncident& c : i.captures) text += (text.empty() ? "" : "; ") + capture_text(c);
  if (!text.empty()) return clean(text, kMostLine);
  return i.family == "progress" ? "what can be learnt without a trace; what stands still is not traced"
                                : "metrics and logs alone, nothing was traced";
}

// As a sentence begins; what begins with a name (of a path, a device) stays as it is.
std::string begun_large(std::string sentence, bool is_within) {
  if (!is_within && sentence.starts_with("rank ")) sentence[0] = 'R';
  return sentence;
}

std::string who_of(const Telling& telling) {
  const Incident& i = telling.incident;
  const bool is_closed = telling.occasion == Occasion::resolved;
  const bool is_over = is_closed && i.ending == Ending::over;
  const bool is_by_hand = is_over && !i.resolved_by.empty();
  const bool is_mended = is_over && !is_by_hand && !i.has_job_ended;
  std::string ended;
  if (is_by_hand) ended = "Who resolved it says that it is mended; it was not seen to end. ";
  if (is_over && i.has_job_ended) ended = "Nothing is known to be mended: the job ended or began anew. ";
  if (is_closed && i.ending == Ending::new_normal)
    ended = "Nothing was mended: it has lasted so long that it counts as normal. ";
  if (is_closed && i.ending == Ending::not_known)
    ended =
        "It is not known whether it is over: the agents that saw it are gone, were restarted or cannot look. ";
  if (i.verdict)
    return ended +
           (is_mended   ? "The cause was: "
            : is_closed ? "The cause: "
                        : "") +
           begun_large(clean(i.verdict->sentence.empty() ? spaced(i.verdict->cause) : i.verdict->sentence,
                             kMostSentence),
                       is_closed);
  if (is_closed) return ended + "Its cause was not found.";
  if (i.shared_by)
    return fmt::format("They have {} in common; what is wrong there is not known.",
                       listed(i.shared_by->hosts, std::ssize(i.shared_by->hosts)));
  if (i.state == IncidentState::inconclusive) return fmt::format("No cause found. Tried: {}.", tried(i));
  const bool is_seen_in_steps = i.family == "speed" || i.family == "progress";
  const std::string unknown =
      is_seen_in_steps ? "The cause is not known yet" : "What it does to the job is not known yet";
  return i.captures.empty() ? unknown + "." : fmt::format("{}; under way: {}.", unknown, tried(i));
}

// Behind "Do: "; what begins with an abbreviation stays as it is.
std::string begun_small(std::string sentence) {
  const auto is_large = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (sentence.size() > 1 && is_large(sentence[0]) && !is_large(sentence[1]))
    sentence[0] = static_cast<char>(sentence[0] - 'A' + 'a');
  return sentence;
}

std::string change_line(const ChangeBefore& change, Ns began_at) {
  std::string text = fmt::format("{} before: {} changed", length_text(std::max<Ns>(began_at - change.at, 0)),
                                 clean(change.kind, kMostName));
  if (!change.before.empty() || !change.after.empty())
    text += fmt::format(", {} → {}", clean(change.before, kMostName), clean(change.after, kMostName));
  return change.by.empty() ? text : text + " by " + clean(change.by, kMostName);
}

std::string logged_by(const std::optional<i64>& rank) {
  return rank ? fmt::format("rank {} logs", *rank) : "a log says";
}

// The most telling first: what the analyses say, what else is not as it should be, logs, changes.
std::vector<EvidenceLine> all_evidence(const Incident& i) {
  std::vector<EvidenceLine> all;
  if (i.shared_by) all.push_back({"jobs " + listed(i.shared_by->jobs, i.shared_by->job_count), {}});
  if (!i.shared_incident.empty())
    all.push_back(
        {"other jobs on the same host have it, too: incident " + clean(i.shared_incident, kMostName * 4),
         {}});
  // What the verdict says already is not said twice.
  for (const Evidence& e : i.evidence)
    if (!i.verdict || e.says != i.verdict->sentence) all.push_back({clean(e.says, kMostLine), {}});
  const Condition worst = worst_condition(i);
  if (quotes_others(worst) && !worst.text.empty())
    all.push_back(
        {worst.rule == kAlert ? "the alert says" : logged_by(worst.rank), clean(worst.text, kMostQuoted)});
  for (const Condition& c : i.conditions) {
    // Of a job that is the first thing that is said; of several, all but the first have to be.
    const bool is_first = i.shared_by ? &c == &i.conditions.front() : says_the_same(c, worst);
    if (is_first || !c.is_firing) continue;
    all.push_back({i.shared_by ? condition_text(c) + of_job(c) : condition_text(c), {}});
    if (quotes_others(c) && !c.text.empty()) all.back().quoted = clean(c.text, kMostQuoted);
  }
  for (const LogLine& line : i.logs) {
    if (line.text == worst.text) continue;
    all.push_back({logged_by(line.rank), clean(line.text, kMostQuoted)});
  }
  for (const ChangeBefore& change : i.changes) {
    all.push_back({change_line(change, began(i)), clean(change.what, kMostQuoted)});
  }
  if (const std::string text = measured_by(i); !text.empty()) all.push_back({text, {}});
  return all;
}

std::string cost_of(const Telling& telling) {
  const Incident& i = telling.incident;
  const auto hours = [&](Ns length) -> std::optional<std::string> {
    const auto lost = gpu_hours_lost(i, length);
    if (!lost || *lost > static_cast<double>(kMostPlausible)) return std::nullopt;
    // Two digits: it is an estimate.
    double unit = 1;
    while (*lost / unit >= 100) unit *= 10;
    const i64 rounded = static_cast<i64>(*lost / unit + 0.5) * static_cast<i64>(unit);
    const bool has_gpus = i.job.has_gpus.value_or(true);
    if (*lost < 1) return has_gpus ? "less than 1 GPU-hour" : "less than 1 rank-hour";
    return has_gpus ? count_text(rounded, "GPU-hour", "GPU-hours")
                    : count_text(rounded, "rank-hour", "rank-hours");
  };
  if (telling.occasion == Occasion::resolved && i.ending == Ending::not_known) return {};
  if (telling.occasion == Occasion::resolved && i.ending == Ending::over) {
    const auto lost = hours(ended(telling) - began(i));
    return lost ? fmt::format("It cost about {}.", *lost) : "";
  }
  const bool has_stopped = i.family == "progress";
  const auto lost = hours(has_stopped ? kHour : kDay);
  return lost ? fmt::format("Costs about {} {}.", *lost, has_stopped ? "each hour" : "a day") : "";
}

std::vector<std::string> commands_of(const Incident& i) {
  std::vector<std::string> all = {"spotter incidents " + shell_word(clean(i.id(), kMostCommand))};
  if (i.report) all.push_back(all[0] + " --report r.html");
  // Whole, or not at all: who copies one that is cut runs another.
  if (!i.to_trace.empty() && clean(i.to_trace, kMostCommand) == i.to_trace) all.push_back(i.to_trace);
  for (const Evidence& e : i.evidence) {
    const bool is_whole = !e.command.empty() && clean(e.command, kMostCommand) == e.command;
    if (all.size() < kMostCommands && is_whole) all.push_back(e.command);
  }
  return all;
}

struct Mark {
  const char* shape;
  const char* word;
};
Mark mark_of(const Telling& telling) {
  if (telling.occasion == Occasion::resolved) {
    constexpr Mark kEnds[] = {{"✓", "Resolved"}, {"●", "New normal"}, {"●", "Seen no more"}};
    const Incident& i = telling.incident;
    return i.ending == Ending::over && i.has_job_ended ? Mark{"●", "Job ended"}
                                                       : kEnds[static_cast<size_t>(i.ending)];
  }
  switch (telling.incident.urgency) {
    case Urgency::critical:
      return {"■", "Critical"};
    case Urgency::warning:
      return {"▲", "Warning"};
    case Urgency::info:
      break;
  }
  return {"●", "Info"};
}

// As a word of a URL: no text of a job ends a path or begins a parameter.
std::string escaped(const std::string& text) {
  std::string word;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '-' || c == '_' || c == '.';
    word += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<u8>(c));
  }
  return word;
}

std::string link_to(const Incident& i, const Surroundings& surroundings) {
  constexpr size_t kMostId = 200, kMostLink = 2000;
  if (i.id().size() > kMostId) return {};
  const std::pair<std::string_view, std::string> places[] = {
      {"{id}", i.id()}, {"{job}", i.job.id}, {"{host}", i.host.empty() ? surroundings.host_name : i.host}};
  std::string url;
  for (size_t at = 0; at < surroundings.report_url.size();) {
    const std::string_view rest = std::string_view(surroundings.report_url).substr(at);
    const auto* place =
        std::ranges::find_if(places, [&](const auto& each) { return rest.starts_with(each.first); });
    const bool is_place = place != std::end(places);
    url += is_place ? escaped(place->second) : std::string(1, rest[0]);
    at += is_place ? place->first.size() : 1;
  }
  return url.size() > kMostLink ? std::string() : url;
}

}  // namespace

std::string Message::headline() const {
  return cut_characters(fmt::format("{} {} · {}", mark, word, what), kMostHeadline);
}

Message message_of(const Telling& telling, const Surroundings& surroundings) {
  const Incident& i = telling.incident;
  Message m;
  if (telling.occasion == Occasion::test) {
    m.mark = "●";
    m.word = "Test";
    m.what = fmt::format("Spotter on {} can reach you here", clean(surroundings.host_name, kMostName));
    m.who = "Nothing is wrong: somebody asked for this message.";
    return m;
  }
  const Mark mark = mark_of(telling);
  m.mark = mark.shape;
  m.word = mark.word;
  if (is_again(telling)) m.word += " again";
  if (is_still(telling)) m.word += " still";
  m.what = what_of(telling);
  m.who = who_of(telling);
  m.cost = cost_of(telling);
  m.commands = commands_of(i);
  m.where = clean(without_domain(i.led_by), kMostName);
  m.link = link_to(i, surroundings);
  if (i.acknowledged)
    m.acknowledged = fmt::format("Acknowledged by {}.", clean(i.acknowledged->by, kMostName));
  if (telling.occasion == Occasion::resolved) return m;
  if (i.verdict) m.confidence = fmt::format("{} confidence", confidence_name(i.verdict->confidence));
  std::vector<std::string> against, doubts;
  for (const std::string& text : i.against)
    is_doubt(text) ? doubts.push_back(text.substr(std::string_view(kDoubt).size())) : against.push_back(text);
  m.against = joined(against, kMostLine);
  m.doubts = joined(doubts, kMostLine);
  m.evidence = all_evidence(i);
  const size_t most = doubts.empty() ? kMostEvidence : kMostEvidence - 1;  // of nine lines
  m.more_evidence = m.evidence.size() - std::min(m.evidence.size(), most);
  m.evidence.resize(std::min(m.evidence.size(), most));
  m.not_known = joined(i.not_known, kMostLine);
  m.remedy =
      i.verdict && !i.verdict->remedy.empty() ? clean(i.verdict->remedy, kMostSentence) : first_remedy(i);
  if (!m.remedy.empty() && m.remedy.back() != '.') m.remedy += '.';
  return m;
}

std::vector<std::string> lines_of(const Message& m) {
  std::vector<std::string> lines;
  const auto add = [&](std::string line) {
    if (!line.empty()) lines.push_back(std::move(line));
  };
  add(m.confidence.empty() ? m.who : fmt::format("{} ({})", m.who, m.confidence));
  for (const EvidenceLine& e : m.evidence)
    add(e.quoted.empty() ? " • " + e.says : fmt::format(" • {}: “{}”", e.says, e.quoted));
  if (m.more_evidence > 0)
    lines.back() +=
        fmt::format("; {} not shown", count_text(static_cast<i64>(m.more_evidence), "more is", "more are"));
  if (!m.doubts.empty()) add(" But: " + m.doubts);
  if (!m.against.empty()) add(" Not: " + m.against);
  if (!m.not_known.empty()) add(" Not known: " + m.not_known);
  std::string act = m.acknowledged;
  const auto say = [&](const std::string& text) { act += (act.empty() || text.empty() ? "" : " ") + text; };
  say(m.cost);
  if (!m.remedy.empty()) say("Do: " + begun_small(m.remedy));
  add(act);
  add(fmt::format("{}{}", m.where.empty() ? "" : fmt::format("On {}: ", m.where),
                  fmt::join(m.commands, " · ")));
  return lines;
}

std::string text_of(const Message& m) {
  std::string text = m.headline() + "\n";
  for (const std::string& line : lines_of(m)) text += line + "\n";
  return text;
}

std::string digest_text(std::span<const Telling> tellings, const Surroundings& surroundings, size_t most) {
  std::string text;
  for (const Telling& telling : tellings.first(std::min(most, tellings.size())))
    text += message_of(telling, surroundings).headline() + "\n";
  if (tellings.size() > most) text += fmt::format("and {} more\n", tellings.size() - most);
  return text;
}

std::vector<std::string> details_of(const Telling& telling) {
  const Incident& i = telling.incident;
  std::vector<std::string> lines;
  for (const EvidenceLine& e : all_evidence(i))
    lines.push_back(e.quoted.empty() ? e.says : fmt::format("{}: {}", e.says, e.quoted));
  for (const std::string& text : i.against)
    lines.push_back((is_doubt(text) ? "" : "not: ") + clean(text, kMostLine));
  for (const std::string& text : i.not_known) lines.push_back("not known: " + clean(text, kMostLine));
  for (const CaptureOfIncident& c : i.captures) {
    std::string line = capture_text(c);
    if (c.overhead_ratio) line += fmt::format(", steps × {:.2f} while it lasted", *c.overhead_ratio);
    if (c.aftermath_ratio) line += fmt::format(", × {:.2f} after it", *c.aftermath_ratio);
    if (!c.path.empty()) line += ", " + clean(c.path, kMostLine);
    lines.push_back(std::move(line));
  }
  constexpr size_t kMostDetails = 60;
  if (lines.size() > kMostDetails) {
    const size_t more = lines.size() - kMostDetails;
    lines.resize(kMostDetails);
    lines.push_back(fmt::format("and {} more", more));
  }
  return lines;
}

}  // namespace spotter::notify
