// A part (analyze/mapped_shard.h) as the bytes of a .sptr file: a first line, then frames of zstd, each
// behind its length: what the part is as JSON, and of each file its results (file_results.h). Written and
// read by one version of the program.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "analyze/mapped_shard.h"

namespace spotter::wire {

// Errors: those of `write`; invalid, where the tables of one file are larger than what a reader takes.
Result<void> write_shard(const analyze::MappedShard& part,
                         const std::function<Result<void>(std::string_view)>& write);

// Whoever wrote them. Errors: corrupt; unsupported, of another version.
Result<analyze::MappedShard> read_shard(std::string_view bytes);

}  // namespace spotter::wire
