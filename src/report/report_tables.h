// The tables of the report, short enough for one screen.
#pragma once
#include <string>

#include "diagnose/job_facts.h"

namespace spotter::report {

std::string rank_title(const diagnose::JobFacts& facts);
Table host_table(const diagnose::JobFacts& facts);    // of ranks, without device work
Table device_table(const diagnose::JobFacts& facts);  // of ranks, with it
Table kernel_table(const Table& kernels, size_t most);
Table operator_table(const Table& operators, bool by_device, size_t most);

}  // namespace spotter::report
