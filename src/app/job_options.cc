#include "app/job_options.h"

#include <CLI/CLI.hpp>
#include <csignal>

#include "app/words.h"

namespace spotter {
namespace {

std::atomic<bool> interrupted = false;

void on_signal(int) { interrupted.store(true, std::memory_order_relaxed); }

}  // namespace

void add_job_part_options(CLI::App& app, std::vector<Range>& ranks, std::optional<Range>& steps,
                          const std::string& what) {
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

const std::atomic<bool>* interruption() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  return &interrupted;
}

}  // namespace spotter
