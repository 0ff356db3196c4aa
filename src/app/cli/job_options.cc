#include "app/cli/job_options.h"

#include "app/cli/readers.h"
#include "app/cli/words.h"

namespace spotter::app {

std::vector<Option> job_part_options(std::vector<analyze::Range>& ranks, std::optional<analyze::Range>& steps,
                                     const std::string& what) {
  return {
      {.names = {"--ranks"},
       .value = "LIST",
       .help = "only these ranks" + what + ": 0,3-7",
       .read = parsed(ranks, parse_ranges)},
      {.names = {"--steps"},
       .value = "RANGE",
       .help = "only these steps" + what + ": 2-5",
       .read = parsed(steps, parse_range)},
  };
}

}  // namespace spotter::app
