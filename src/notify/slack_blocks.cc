#include "notify/slack_blocks.h"

#include <fmt/format.h>

#include "base/text/utf8.h"
#include "notify/words.h"

namespace spotter::notify {
namespace {

namespace json = boost::json;

// The lines of a message together stay below kMostSlackBlocks.
constexpr size_t kMostWho = 1200, kMostEvidence = 700, kMostList = 500, kMostAct = 1000, kMostCommand = 300;

json::object text_of(const char* type, std::string_view text) {
  json::object object = {{"type", type}, {"text", text}};
  if (object["type"] == "mrkdwn")
    object["verbatim"] = true;  // neither links nor mentions are made of words
  else
    object["emoji"] = false;
  return object;
}

json::object section(const std::string& text) {
  return {{"type", "section"}, {"text", text_of("mrkdwn", text)}};
}

// A job's own words: no character of them ends the code.
std::string code(std::string text, size_t most) {
  for (char& c : text)
    if (c == '`') c = '\'';
  return "`" + slack_escaped(text, most) + "`";
}

std::string context_text(const Message& m, Ns began) {
  std::string text = m.where.empty() ? "" : fmt::format("On {}: ", slack_escaped(m.where, kMostCommand));
  for (const std::string& command : m.commands)
    text += (&command == m.commands.data() ? "" : " · ") + code(command, kMostCommand);
  if (began > 0)
    text += fmt::format("{}since <!date^{}^{{date_short_pretty}} {{time}}|{}>", text.empty() ? "" : " · ",
                        began / kSecond, clock_text(began, 0));
  if (!m.link.empty()) text += fmt::format(" · <{}|Incident>", slack_escaped(m.link, kMostList));
  return text;
}

}  // namespace

std::string slack_escaped(std::string_view text, size_t most) {
  std::string out;
  size_t length = 0;
  while (!text.empty()) {
    const size_t bytes = first_code_point(text).bytes;
    std::string_view one = text.substr(0, bytes);
    if (one == "&") one = "&amp;";
    if (one == "<") one = "&lt;";
    if (one == ">") one = "&gt;";
    const size_t characters = one.front() == '&' ? one.size() : 1;
    text.remove_prefix(bytes);
    // One is left for the mark.
    if (length + characters + (text.empty() ? 0 : 1) > most) return out + "…";
    out += one;
    length += characters;
  }
  return out;
}

json::array slack_blocks(const Message& m, Ns began) {
  json::array blocks;
  blocks.push_back(json::object{{"type", "header"}, {"text", text_of("plain_text", m.headline())}});
  std::string who = slack_escaped(m.who, kMostWho);
  if (!m.confidence.empty()) who += " _(" + m.confidence + ")_";
  if (!who.empty()) blocks.push_back(section(who));
  std::string evidence;
  for (const EvidenceLine& e : m.evidence) {
    evidence += (evidence.empty() ? "• " : "\n• ") + slack_escaped(e.says, kMostEvidence);
    if (!e.quoted.empty()) evidence += ": " + code(e.quoted, kMostEvidence / 2);
  }
  if (m.more_evidence > 0) evidence += fmt::format(" (and {} more)", m.more_evidence);
  if (!evidence.empty()) blocks.push_back(section(evidence));
  std::string rest;
  const auto add = [&](const std::string& line) { rest += (rest.empty() ? "" : "\n") + line; };
  if (!m.doubts.empty()) add("*But:* " + slack_escaped(m.doubts, kMostList));
  if (!m.against.empty()) add("*Not:* " + slack_escaped(m.against, kMostList));
  if (!m.not_known.empty()) add("*Not known:* " + slack_escaped(m.not_known, kMostList));
  if (!m.acknowledged.empty()) add(slack_escaped(m.acknowledged, kMostList));
  if (!m.cost.empty()) add(slack_escaped(m.cost, kMostList));
  if (!m.remedy.empty()) add("*Do:* " + slack_escaped(m.remedy, kMostAct));
  if (!rest.empty()) blocks.push_back(section(rest));
  if (const std::string context = context_text(m, began); !context.empty())
    blocks.push_back(
        json::object{{"type", "context"}, {"elements", json::array{text_of("mrkdwn", context)}}});
  return blocks;
}

std::string slack_fallback(const Message& m) {
  constexpr size_t kMostFallback = 4 * kMostHeadline;
  return slack_escaped(m.headline(), kMostFallback);
}

std::string slack_code(const std::vector<std::string>& lines) {
  constexpr size_t kColumns = 60;
  constexpr std::string_view kFence = "```";
  std::string text;
  size_t length = 2 * kFence.size() + 32, shown = 0;
  for (std::string line : lines) {
    for (char& c : line)
      if (c == '`') c = '\'';
    line = slack_escaped(cut_characters(line, kColumns), kColumns * 5);
    if (length + line.size() + 1 > kMostSlackSection) break;
    length += line.size() + 1;
    text += line + "\n";
    ++shown;
  }
  if (shown < lines.size()) text += fmt::format("and {} lines more\n", lines.size() - shown);
  return fmt::format("{}\n{}{}", kFence, text, kFence);
}

}  // namespace spotter::notify
