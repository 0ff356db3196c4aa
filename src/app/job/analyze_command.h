// `spotter analyze PATH...` as others have it: its report, for who has files that were mapped elsewhere, and
// all of it, for who has all maps already.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "analyze/run.h"
#include "app/cli/command.h"

namespace spotter::app {

// What a command makes its answer of.
struct JobSource {
  Job job;
  std::vector<std::string> paths;  // of the job, as findings name them
  std::function<Result<analyze::MappedJob>(const Job&, const analyze::RunRequest&)> map =
      {};          // none: reads the job
  int status = 0;  // of an answer that lacks something
};
// May say what the request leaves open.
using OpenSource =
    std::function<Result<JobSource>(const std::vector<std::string>& words, analyze::RunRequest& request)>;

// A command with all options of `analyze`; `command` has what is its own.
Command command_over_job(Command command, std::string argument_help, std::string argument, OpenSource open);

// Of these files and of those that were mapped elsewhere for diagnose::fact_request(). `output`: a file,
// whose ending says the format; empty: standard output.
Result<void> print_report(const std::vector<std::string>& paths,
                          std::vector<analyze::FileResult> elsewhere = {}, const std::string& output = {});

// Errors: invalid (there is no report of the format that its ending says).
Result<void> check_report_output(const std::string& output);

}  // namespace spotter::app
