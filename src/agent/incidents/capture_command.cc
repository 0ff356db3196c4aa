#include "agent/incidents/capture_command.h"

#include <fmt/ranges.h>

#include <vector>

#include "analyze/range_text.h"
#include "base/text/shell_word.h"
#include "base/time.h"

namespace spotter::agent {

std::string capture_command(const std::string& job, const respond::Chosen& whom, Ns window) {
  std::vector<std::string> words = {"spotter", "trace", "--job", job};
  if (!whom.ranks.empty()) {
    std::string ranks = analyze::range_text({whom.ranks.begin(), whom.ranks.end()});
    std::erase(ranks, ' ');
    words.insert(words.end(), {"--rank", std::move(ranks)});
  }
  if (!whom.hosts.empty())
    words.insert(words.end(), {"--host", fmt::format("{}", fmt::join(whom.hosts, ","))});
  words.insert(words.end(), {"--duration", fmt::format("{}ms", window / kMillisecond), "--analyze"});
  return shell_words(words);
}

}  // namespace spotter::agent
