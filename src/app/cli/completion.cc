#include "app/cli/completion.h"

#include <fmt/ranges.h>

namespace spotter::app {

std::string brief(const std::string& help) {
  size_t end = help.size();
  for (const char* stop : {"; ", ". ", ": "}) end = std::min(end, help.find(stop));
  return help.substr(0, end);
}

std::string offered_words(const Offer& offer) {
  return offer.kind == Offer::Kind::words ? fmt::format("{}", fmt::join(offer.words(), " ")) : "";
}

std::string command_words(const Program& program) {
  std::string words;
  for (const Command* command : listed(program.commands)) words += (words.empty() ? "" : " ") + command->name;
  return words;
}

}  // namespace spotter::app
