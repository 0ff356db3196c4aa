// The command line: words -> what was asked for. The flags of analyses come from their records.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analyze/run.h"
#include "base/result.h"
#include "render/render.h"

namespace spotter {

struct AnalyzeOptions {
  std::vector<std::string> paths, tables;
  std::vector<Range> ranks;
  std::optional<Range> steps;
  std::vector<std::pair<std::string, i64>> params;
  Format format = Format::text;
  std::string output;  // empty: standard output
  int threads = 0;     // 0: one per processor
  i64 memory_bytes = 0;
  bool timing = false;
};

struct AnalysesOptions {
  std::string name;  // empty: list all
};

// What to do. `exit` is set when the command line already is the answer (help, version) or is wrong.
struct CommandLine {
  std::optional<int> exit;
  std::optional<AnalyzeOptions> analyze;
  std::optional<AnalysesOptions> analyses;
};

// Prints help to standard output, and what is wrong with the words, in one line, to standard error (exit code
// 2).
CommandLine parse_command_line(int argc, char** argv);

// "0,3-7" -> {0,0},{3,7}; "2-5"; "8G" -> bytes. Errors: invalid.
Result<std::vector<Range>> parse_ranges(const std::string& text);
Result<i64> parse_size(const std::string& text);

}  // namespace spotter
