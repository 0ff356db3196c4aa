#include "app/job_options.h"

#include <CLI/CLI.hpp>

#include "app/words.h"

namespace spotter::app {
void add_job_part_options(CLI::App& app, std::vector<analyze::Range>& ranks,
                          std::optional<analyze::Range>& steps, const std::string& what) {
  add_option(app, "--ranks", "LIST", "only these ranks" + what + ": 0,3-7",
             [&ranks](const std::string& word) -> Result<void> {
               TRY_ASSIGN(ranks, parse_ranges(word));
               return {};
             });
  add_option(app, "--steps", "RANGE", "only these steps" + what + ": 2-5",
             [&steps](const std::string& word) -> Result<void> {
               TRY_ASSIGN(steps, parse_range(word));
               return {};
             });
}

}  // namespace spotter::app
