#include "notify/redact.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/utf8.h"

namespace spotter::notify {
namespace {

using respond::Incident;

// Longer names first: "gpu01.rack2" before "gpu01".
struct LongerFirst {
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};
using StandIns = std::map<std::string, std::string, LongerFirst>;

// FNV-1a, 64 bits, of which 24 are shown.
std::string stand_in(const char* what, const std::string& name) {
  u64 hash = 14695981039346656037ULL;
  for (const unsigned char c : name) hash = (hash ^ c) * 1099511628211ULL;
  return fmt::format("{}-{:06x}", what, (hash ^ hash >> 32) & 0xFFFFFF);
}

bool is_of_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Whole words only: of "gpu01" and "gpu012" each is itself. In one pass, since a stand-in may have a name in
// it.
std::string replaced(const std::string& text, const StandIns& names) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto fits = [&](const auto& entry) {
      const std::string& name = entry.first;
      const size_t end = at + name.size();
      return text.compare(at, name.size(), name) == 0 && (end == text.size() || !is_of_word(text[end]));
    };
    const bool begins = at == 0 || !is_of_word(text[at - 1]);
    const auto it = begins ? std::ranges::find_if(names, fits) : names.end();
    if (it == names.end()) {
      out += text[at++];
    } else {
      out += it->second;
      at += it->first.size();
    }
  }
  return out;
}

template <class Each>
void each_text(Incident& i, Each each) {
  for (std::string* text : {&i.host, &i.led_by, &i.job.name, &i.job.user, &i.symptom.source}) each(*text);
  if (i.verdict) {
    each(i.verdict->sentence);
    each(i.verdict->remedy);
    for (respond::Suspect& suspect : i.verdict->suspects) each(suspect.host);
  }
  for (respond::Evidence& e : i.evidence) {
    each(e.says);
    each(e.command);
    for (auto& [key, value] : e.row) each(value);
  }
  for (std::string& text : i.against) each(text);
  for (respond::ChangeBefore& c : i.changes)
    for (std::string* text : {&c.what, &c.before, &c.after, &c.by, &c.link}) each(*text);
  for (respond::LogLine& line : i.logs) {
    each(line.text);
    each(line.file);
  }
  for (respond::CaptureOfIncident& c : i.captures) each(c.path);
  for (std::string& text : i.not_known) each(text);
  for (respond::Condition& c : i.conditions)
    for (std::string* text : {&c.user, &c.host, &c.device, &c.source, &c.text}) each(*text);
  if (i.acknowledged) {
    each(i.acknowledged->by);
    each(i.acknowledged->where);
  }
}

void add(StandIns& all, const char* what, const std::string& name) {
  if (!name.empty()) all.emplace(name, stand_in(what, name));
}

void add_hosts(StandIns& all, const Incident& i) {
  add(all, "host", i.host);
  add(all, "host", i.led_by);
  if (i.verdict)
    for (const respond::Suspect& suspect : i.verdict->suspects) add(all, "host", suspect.host);
  for (const respond::Condition& c : i.conditions) add(all, "host", c.host);
  for (const respond::Evidence& e : i.evidence)
    for (const auto& [key, value] : e.row)
      if (key == "host") add(all, "host", value);
}

void add_users(StandIns& all, const Incident& i) {
  add(all, "user", i.job.user);
  for (const respond::Condition& c : i.conditions) add(all, "user", c.user);
  for (const respond::ChangeBefore& c : i.changes) add(all, "user", c.by);
  if (i.acknowledged) add(all, "user", i.acknowledged->by);
}

void leave_out_names(Incident& i) {
  for (respond::Evidence& e : i.evidence) e.command.clear();
  for (respond::LogLine& line : i.logs) line.file.clear();
  for (respond::CaptureOfIncident& c : i.captures) c.path.clear();
  for (respond::ChangeBefore& c : i.changes)
    for (std::string* text : {&c.what, &c.before, &c.after, &c.link}) text->clear();
}

}  // namespace

Result<Redaction> redaction_of(const std::vector<std::string>& words) {
  Redaction redaction;
  bool* const flags[] = {&redaction.names, &redaction.hosts, &redaction.users, &redaction.log_lines};
  for (const std::string& word : words) {
    const auto it = std::ranges::find(kRedacted, word);
    if (it == std::end(kRedacted))
      return fail(Code::invalid, "\"{}\" cannot be left out; there are {}", to_printable(word),
                  fmt::join(kRedacted, ", "));
    *flags[it - std::begin(kRedacted)] = true;
  }
  return redaction;
}

Incident redacted(Incident incident, const Redaction& redaction) {
  StandIns names;
  if (redaction.hosts) add_hosts(names, incident);
  if (redaction.users) add_users(names, incident);
  if (redaction.names) {
    if (!incident.job.name.empty()) names.emplace(incident.job.name, "(name)");
    leave_out_names(incident);
  }
  if (redaction.log_lines) {
    incident.logs.clear();
    for (respond::Condition& c : incident.conditions) c.text.clear();
  }
  if (!names.empty()) {
    each_text(incident, [&](std::string& text) { text = replaced(text, names); });
  }
  return incident;
}

}  // namespace spotter::notify
