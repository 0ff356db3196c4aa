#include "app/capture/capture_report.h"

#include <cstdio>

#include "app/job/analyze_command.h"
#include "base/text/utf8.h"
#include "client/remote_analysis.h"
#include "diagnose/run.h"

namespace spotter::app {

Result<void> report_capture(const client::Fleet& fleet, const client::Credentials& credentials,
                            const std::string& output, const std::string& receipts_file,
                            const std::string& report) {
  client::RemoteAnalysis files =
      client::analyze_where_written(fleet.members(), credentials, output, diagnose::fact_request());
  for (const auto& [host, error] : files.missing)
    std::fprintf(stderr, "spotter: the traces of %s are not in the report: %s\n", host.shown().c_str(),
                 to_printable(error.message).c_str());
  if (files.here.empty() && files.elsewhere.empty()) return {};
  if (!files.here.empty()) files.here.push_back(receipts_file);  // says who is missing
  if (report.empty()) std::fputc('\n', stdout);
  return print_report(files.here, std::move(files.elsewhere), report);
}

}  // namespace spotter::app
