// tell: makes notifiers tell what a test says, so that the real receivers can be asked what they got. A line
// of JSON in, a line out; "at" is Unix time in milliseconds:
//   {"kind": "slack", "settings": {"channel": "C1"}, "incident": {...}, "occasion": "verdict", "at":
//   1795409206000, "kept": ""}
//   {"outcome": "done", "says": "", "pause_ms": 0, "in_doubt": false, "kept": ""}    or    {"error": "..."}
#include <fmt/format.h>

#include <iostream>
#include <string>

#include "base/version.h"
#include "notify/list.h"
#include "wire/incident.h"
#include "wire/json.h"

using namespace spotter;
namespace json = boost::json;

namespace {

constexpr const char* kOccasions[] = {"opened", "verdict", "changed", "resolved", "test"};
constexpr const char* kOutcomes[] = {"done", "again", "for_good", "gone"};

Result<json::object> told(const std::string& line) {
  TRY_ASSIGN(const json::object asked, wire::read_object(line));
  Settings settings;
  for (const auto& [key, value] : asked.at("settings").as_object())
    settings[std::string(key)] = std::string(wire::text_in(value));
  notify::Telling telling;
  TRY_ASSIGN(telling.incident, wire::incident_from(asked.at("incident").as_object()));
  const std::string_view occasion = wire::text_in(asked.at("occasion"));
  for (size_t i = 0; i < std::size(kOccasions); ++i)
    if (occasion == kOccasions[i]) telling.occasion = static_cast<notify::Occasion>(i);
  telling.at = asked.at("at").as_int64() * kMillisecond;
  TRY_ASSIGN(const auto notifier, notify::open_notifier(std::string(wire::text_in(asked.at("kind"))),
                                                        settings, {kVersion, "gpu01", "https://gpu01:1779"}));
  std::string kept(wire::text_in(asked.at("kept")));
  const notify::Outcome outcome = notifier->tell(telling, kept);
  return json::object{{"outcome", kOutcomes[static_cast<size_t>(outcome.kind)]},
                      {"says", wire::mended(outcome.says)},
                      {"pause_ms", outcome.pause / kMillisecond},
                      {"in_doubt", outcome.in_doubt},
                      {"kept", wire::mended(kept)}};
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = told(line);
    std::cout << wire::json_text(answer ? json::value(*answer)
                                        : json::value{{"error", answer.error().message}})
              << std::endl;
  }
}
