#include "notify/redact.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "base/stable_sort.h"
#include "base/text/quantity.h"
#include "base/text/utf8.h"
#include "net/digest.h"
#include "notify/symptom.h"
#include "notify/words.h"
#include "respond/rules/list.h"

namespace spotter::notify {
namespace {

using namespace respond;

constexpr const char* kLeftOut = "…";
constexpr size_t kDigits = 8;

// Every text of it that a person may be shown.
template <class F>
void for_each_text(Incident& i, F act) {
  for (std::string* text :
       {&i.led_by, &i.host, &i.job.name, &i.job.user, &i.symptom.source, &i.shared_incident, &i.resolved_by})
    act(*text);
  if (i.report) act(i.report->host);
  if (i.shared_by)
    for (std::string& host : i.shared_by->hosts) act(host);
  if (i.verdict) {
    act(i.verdict->sentence);
    act(i.verdict->remedy);
    for (Suspect& s : i.verdict->suspects) act(s.host);
  }
  for (Evidence& e : i.evidence) {
    act(e.says);
    act(e.command);
    for (auto& [key, value] : e.row) act(value);
  }
  for (std::string& text : i.against) act(text);
  for (std::string& text : i.not_known) act(text);
  for (ChangeBefore& c : i.changes)
    for (std::string* text : {&c.kind, &c.what, &c.before, &c.after, &c.by, &c.link}) act(*text);
  for (LogLine& line : i.logs) {
    act(line.text);
    act(line.file);
  }
  for (CaptureOfIncident& c : i.captures) act(c.path);
  for (Condition& c : i.conditions)
    for (std::string* text : {&c.user, &c.host, &c.device, &c.source, &c.text, &c.shared_incident})
      act(*text);
  if (i.acknowledged) {
    act(i.acknowledged->by);
    act(i.acknowledged->where);
  }
}

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<u8>(c) >= 0x80;
}

// Where it stands as a word of its own.
void replace_word(std::string& text, const std::string& word, const std::string& by) {
  for (size_t at = 0; (at = text.find(word, at)) != text.npos;) {
    const size_t end = at + word.size();
    const bool is_part = (at > 0 && is_of_word(text[at - 1]) && is_of_word(word.front())) ||
                         (end < text.size() && is_of_word(text[end]) && is_of_word(word.back()));
    if (is_part) {
      ++at;
      continue;
    }
    text.replace(at, word.size(), by);
    at += by.size();
  }
}

using Words = std::set<std::string>;
using Replacements = std::map<std::string, std::string>;

void replace_words(Incident& i, const Replacements& replacements) {
  // The longest first: a name may begin with another one.
  std::vector<std::pair<std::string, std::string>> all(replacements.begin(), replacements.end());
  std::erase_if(all, [](const auto& pair) { return pair.first.empty(); });
  stable_sort(all, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for_each_text(i, [&](std::string& text) {
    for (const auto& [word, other] : all) replace_word(text, word, other);
  });
}

void leave_out(Incident& i, const Words& words) {
  Replacements all;
  for (const std::string& word : words) all[word] = kLeftOut;
  replace_words(i, all);
}

void redact_log_lines(Incident& i) {
  Words lines;
  for (const LogLine& line : i.logs) lines.insert(line.text);
  for (const Condition& c : i.conditions) {
    if (quotes_others(c)) lines.insert(c.text);
  }
  leave_out(i, lines);
  i.logs.clear();
  for (Condition& c : i.conditions) {
    if (quotes_others(c)) c.text.clear();
  }
}

void redact_names(Incident& i) {
  leave_out(i, {i.job.name});
  i.job.name.clear();
  for (ChangeBefore& c : i.changes)
    for (std::string* text : {&c.what, &c.before, &c.after, &c.link}) text->clear();
}

// "process 615 of bob" (gpu_shared)
std::string owner_in(const Condition& c) {
  constexpr std::string_view kOf = " of ";
  const size_t at = c.text.rfind(kOf);
  return c.rule != kGpuShared.name || at == c.text.npos ? std::string() : c.text.substr(at + kOf.size());
}

void redact_users(Incident& i) {
  Words users = {i.job.user};
  for (const Condition& c : i.conditions)
    for (const std::string& user : {c.user, owner_in(c)}) users.insert(user);
  for (const ChangeBefore& c : i.changes) users.insert(c.by);
  if (i.acknowledged) users.insert(i.acknowledged->by);
  users.insert(i.resolved_by);
  leave_out(i, users);
  i.job.user.clear();
  for (Condition& c : i.conditions) c.user.clear();
  for (ChangeBefore& c : i.changes) c.by.clear();
  if (i.acknowledged) i.acknowledged->by = "somebody";
  if (!i.resolved_by.empty()) i.resolved_by = "somebody";
  if (i.report) i.report->uid.reset();
}

// The host whose jobs share it, by its id.
std::string host_in(const std::string& shared_incident, const std::string& family) {
  const size_t end = shared_incident.rfind("-" + family + "-");
  return end == shared_incident.npos ? std::string() : shared_incident.substr(0, end);
}

bool is_of_name(char c) { return is_of_word(c) || c == '.' || c == '-'; }

std::string name_at(const std::string& text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_of_name(text[end])) ++end;
  while (end > at && text[end - 1] == '.') --end;
  return text.substr(at, end - at);
}

// Those that our sentences name: "rank 3 on gpu05", "ranks 4, 5 on n2, n3 are stopped", "but gpu04: tasks in
// wait ...", "gpu01, which leads this job, did not answer gpu02", and what is ruled out on the host that says
// so.
void add_hosts_in(const std::string& text, Words& hosts) {
  constexpr std::string_view kBefore[] = {
      "on ",          "this is what ",  "did not answer ", "links of ",       "no port of ",
      "no clock of ", "PCIe links of ", "disks of ",       "file systems of "};
  constexpr std::string_view kOthers[] = {"the", "this", "that",  "those", "these", "it",      "its",
                                          "a",   "all",  "which", "rank",  "ranks", "average", "each",
                                          "one", "both", "after", "as",    "since", "demand",  "time"};
  constexpr std::string_view kDoubtful = kDoubt;
  if (text.starts_with(kDoubtful)) {
    const std::string name = name_at(text, kDoubtful.size());
    if (text.substr(kDoubtful.size() + name.size(), 1) == ":") hosts.insert(name);
  }
  const std::string first = name_at(text, 0);
  if (std::string_view(text).substr(first.size()).starts_with(", which leads")) hosts.insert(first);
  for (const std::string_view before : kBefore) {
    for (size_t at = 0; (at = text.find(before, at)) != text.npos;) {
      const bool is_word = at == 0 || text[at - 1] == ' ';
      at += before.size();
      while (is_word) {
        const std::string name = name_at(text, at);
        if (name.empty() || std::ranges::find(kOthers, name) != std::end(kOthers)) break;
        hosts.insert(name);
        at += name.size();
        if (text.substr(at, 2) != ", ") break;
        at += 2;
      }
    }
  }
}

// Who was asked and did not answer: "no agent answers at gpu07:1779: ...", "[fd00::7]:1779".
void add_addresses_in(const std::string& text, Words& hosts) {
  constexpr size_t kLeastPort = 3;  // digits: of two it is a time of day
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (size_t colon = 1; colon + kLeastPort < text.size(); ++colon) {
    if (text[colon] != ':' || !std::ranges::all_of(text.substr(colon + 1, kLeastPort), is_digit)) continue;
    if (text[colon - 1] == ']') {
      const size_t open = text.rfind('[', colon);
      if (open != text.npos) hosts.insert(text.substr(open + 1, colon - 2 - open));
      continue;
    }
    size_t begin = colon;
    while (begin > 0 && is_of_name(text[begin - 1])) --begin;
    hosts.insert(text.substr(begin, colon - begin));
  }
}

// The host that a launcher has called a job by: "torchrun-gpu01:29500", "prterun-gpu01-512@1" (MPI),
// "17.server" (PBS).
std::string host_in_job(const std::string& id) {
  const auto between = [&](std::string_view prefix, char end) {
    const size_t at = id.rfind(end);
    return id.starts_with(prefix) && at != id.npos && at > prefix.size()
               ? id.substr(prefix.size(), at - prefix.size())
               : std::string();
  };
  if (std::string host = between("torchrun-", ':'); !host.empty())
    return host.front() == '[' ? host.substr(1, host.size() - 2) : host;
  if (std::string host = between("prterun-", '-'); !host.empty()) return host;
  const size_t number = id.find_first_not_of("0123456789[]");
  const bool is_numbered = number != id.npos && number > 0 && id[number] == '.' && number + 1 < id.size();
  return is_numbered ? id.substr(number + 1) : std::string();
}

// By what is in the id alone, so that one job has the same key whatever else is known of its hosts.
void redact_hosts_in_job(std::string& id) {
  if (const std::string host = host_in_job(id); !host.empty()) replace_word(id, host, redacted_host(host));
}

void redact_hosts(Incident& i) {
  Words hosts = {i.host, i.led_by, host_in(i.shared_incident, i.family)};
  if (i.shared_by) hosts.insert(i.shared_by->hosts.begin(), i.shared_by->hosts.end());
  if (i.report) hosts.insert(i.report->host);
  // It names those that are to be asked, and with other names it is no command.
  add_addresses_in(i.to_trace, hosts);
  i.to_trace.clear();
  i.part_of.clear();
  if (i.acknowledged) i.acknowledged->where.clear();  // an address
  hosts.insert(host_in_job(i.job.id));
  for (const Condition& c : i.conditions)
    for (const std::string& host : {c.host, host_in(c.shared_incident, c.family), host_in_job(c.job)})
      hosts.insert(host);
  for (const Condition& c : i.conditions) {
    // "nfs1:/export"
    if (c.rule == kStorageHangs.name && c.text.find(':') != c.text.npos)
      hosts.insert(c.text.substr(0, c.text.find(':')));
  }
  if (i.verdict) {
    for (const Suspect& s : i.verdict->suspects) hosts.insert(s.host);
    add_hosts_in(i.verdict->sentence, hosts);
  }
  for (const Evidence& e : i.evidence) {
    add_hosts_in(e.says, hosts);
    for (const auto& [key, value] : e.row) {
      if (key == "host") hosts.insert(value);
    }
  }
  for (const std::string& text : i.against) add_hosts_in(text, hosts);
  for (const std::string& text : i.not_known) {
    add_hosts_in(text, hosts);
    add_addresses_in(text, hosts);
  }
  Replacements all;
  for (const std::string& host : hosts) {
    const std::string digest = redacted_host(host);
    // Texts may have the name without its domain; of an address there is no such part.
    all.emplace(without_domain(host), digest);
    all[host] = digest;
  }
  replace_words(i, all);
  redact_hosts_in_job(i.job.id);
  for (Condition& c : i.conditions) redact_hosts_in_job(c.job);
  if (i.shared_by)
    for (std::string& job : i.shared_by->jobs) redact_hosts_in_job(job);
}

struct Part {
  std::string_view name;
  bool Redaction::* flag;
};
constexpr Part kParts[] = {{"names", &Redaction::names},
                           {"hosts", &Redaction::hosts},
                           {"users", &Redaction::users},
                           {"log_lines", &Redaction::log_lines}};

}  // namespace

Result<Redaction> parse_redaction(const std::string& words) {
  Redaction redaction;
  for (const std::string& word : split_commas(words)) {
    const Part* part = std::ranges::find(kParts, word, &Part::name);
    if (part == std::end(kParts))
      return fail(Code::invalid, "\"{}\" is none of names, hosts, users and log_lines", to_printable(word));
    redaction.*part->flag = true;
  }
  return redaction;
}

std::string redacted_host(const std::string& host) {
  return host.empty() ? std::string() : "host-" + net::sha256(host).substr(0, kDigits);
}

std::string what_is_left_out(const Redaction& redaction) {
  std::string words;
  for (const Part& part : kParts)
    if (redaction.*part.flag) words += fmt::format("{}{}", words.empty() ? ", without " : ", ", part.name);
  return words;
}

void redact(Incident& incident, const Redaction& redaction) {
  if (redaction.log_lines) redact_log_lines(incident);
  if (redaction.names) redact_names(incident);
  if (redaction.users) redact_users(incident);
  if (redaction.hosts) redact_hosts(incident);
}

}  // namespace spotter::notify
