// The report of `spotter analyze PATH...`, for who has files that were mapped elsewhere, too.
#pragma once
#include <string>
#include <vector>

#include "analyze/run.h"

namespace spotter::app {

// Of these files and of those that were mapped elsewhere for diagnose::fact_request().
Result<void> print_report(const std::vector<std::string>& paths,
                          std::vector<analyze::FileResult> elsewhere = {});

}  // namespace spotter::app
