// What became of each file of an analysis that ran on another host, as text: JSON, from one build of the
// program to another one of the same version. It is not what an agent answers with (read_tables.h): both ends
// know the columns and check them, reals come back to the last bit, and each table keeps the places and
// scopes of its notes.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/run.h"

namespace spotter::wire {

inline constexpr size_t kMostResultsBytes = size_t{64} << 20;

// `analyses`: those that were asked for, in their order. Text that is no UTF-8 is mended.
std::string file_results_text(std::span<const analyze::FileResult> files,
                              std::span<const Analysis* const> analyses);

// Who wrote results, and what to do where that is another program than this.
struct Writer {
  const char* name = "the agent";
  const char* remedy =
      "install one version on both, or copy the traces here (spotter trace --output) and analyse them";
};

// The same back, whoever wrote it. Errors: unsupported (of another version, or of other analyses than these),
// corrupt.
Result<std::vector<analyze::FileResult>> read_file_results(std::string_view text,
                                                           std::span<const Analysis* const> analyses,
                                                           const Writer& writer = {});

}  // namespace spotter::wire
