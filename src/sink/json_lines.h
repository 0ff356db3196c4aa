// Batches as lines of JSON, one for each row, in a file, a pipe or standard output:
// {"time":"2026-11-22T11:00:00.123Z","host":"n1","table":"disk","device":"sda","read_bytes":4096}. Numbers
// are as in the tables: ratios 0..1, times in ns. What is null is left out. Or Dynolog's records
// (dynolog_names.h).
#pragma once
#include <memory>
#include <string>

#include "sink/line_file.h"
#include "sink/sink.h"

namespace spotter::sink {

std::string json_lines(const Share& share, std::string_view host_name);

// A sink that appends them to a file.
std::unique_ptr<Sink> json_lines_file(LineFileOptions file, std::string host_name);

}  // namespace spotter::sink
