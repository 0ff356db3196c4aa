#include "app/cli/job_options.h"

#include "analyze/range_text.h"
#include "app/cli/readers.h"
#include "app/cli/words.h"

namespace spotter::app {

std::vector<Option> job_part_options(std::vector<analyze::Range>& ranks, std::optional<analyze::Range>& steps,
                                     const std::string& what) {
  return {
      {.names = {"--ranks"},
       .value = "LIST",
       .help = "only these ranks" + what + ": 0,3-7",
       .read = parsed(ranks, analyze::parse_ranges)},
      {.names = {"--steps"},
       .value = "RANGE",
       .help = "only these steps" + what + ": 2-5",
       .read = parsed(steps, analyze::parse_range)},
  };
}

std::vector<Option> reading_options(analyze::RunRequest& request) {
  return {
      {.names = {"--threads"},
       .value = "N",
       .help = "threads to use; default: one per processor",
       .read = number(request.threads, 1, 1024)},
      {.names = {"--memory"},
       .value = "SIZE",
       .help = "memory for traces held at one time: 8G; default: half of the machine",
       .read = parsed(request.memory_bytes, parse_size)},
  };
}

}  // namespace spotter::app
