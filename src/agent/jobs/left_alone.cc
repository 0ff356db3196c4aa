#include "agent/jobs/left_alone.h"

#include <algorithm>

namespace spotter::agent {

std::string why_left_alone(const RespondOptions& options, const kineto::Process* process,
                           const std::string& user) {
  if (process) {
    const auto word = process->facts.environment.find("SPOTTER_RESPOND");
    if (word != process->facts.environment.end() && word->second == "off")
      return "nothing was traced: the job says SPOTTER_RESPOND=off";
  }
  if (std::ranges::find(options.not_traced, user) != options.not_traced.end())
    return "nothing was traced: the configuration leaves this user's jobs alone";
  return {};
}

}  // namespace spotter::agent
