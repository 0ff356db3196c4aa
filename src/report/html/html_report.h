// A report as one HTML file that can be mailed: what is to be read stands in it as HTML and SVG, and the data
// below it, for the script of the page (web/), which shows the rest. Same traces and options, same bytes.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "diagnose/run.h"
#include "report/report.h"

namespace spotter::report {

constexpr i64 kMostPageBytes = 3'000'000;
constexpr size_t kPageNames = 20;  // kernels and operators that are listed

struct PageOptions {
  std::vector<std::string> paths = {};  // of the job, as a command names them
  std::string part = {};                // the flags that say which part of it: " --ranks 0-3"
  i64 most_bytes = kMostPageBytes;      // 0: no limit; what is too much is left out, and said
  bool redacted = false;                // without paths, host names and arguments
  std::string source_url = {};          // where the sources are, for links; empty: where the job says
  size_t names = kPageNames;
};

// What a command names the part of the job by: PageOptions::part.
std::string part_words(const analyze::RunRequest& run);

// What has to be asked of a job (diagnose::Request::run) beside its findings. Of large jobs not everything:
// what would not fit is not made.
std::vector<const Analysis*> page_analyses(const Job& job, i64 most_bytes);

// Of the diagnosis of that request, which `run` is. Reads the traces once more, for their spans, but
// for standard input. Errors: as
// analyze::map_files(); invalid (it cannot be so small).
Result<std::string> html_report(const Job& job, diagnose::Diagnosis diagnosis, const analyze::RunRequest& run,
                                const Loader& load, const PageOptions& options);

// What of it there is without script.
std::string static_html(const Report& report, const std::string& title, std::optional<Ns> start,
                        const std::string& command);

}  // namespace spotter::report
