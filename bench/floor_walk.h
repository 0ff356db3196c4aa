// The floor: what a loader must beat. A whole gzip file is inflated by libdeflate into one buffer that is
// kept warm between rounds, and simdjson's On-Demand parser walks every event in it: one thread, nothing
// stored. The fields that a lean load keeps are read exactly (decimal text to integer ns) and summed, so the
// sums also check a load's answer.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace spotter::bench {

// Sums are modulo 2^64 and count 0 for a field that is absent or no integer. ts and dur are in ns, relative
// to baseTimeNanoseconds. Numbers in quotes count as numbers. Keys are those that Arg's members of these
// names stand for.
struct Sums {
  u64 events = 0, ts = 0, dur = 0, correlation = 0, external_id = 0, stream = 0, device = 0, bytes = 0;
  bool operator==(const bench::Sums&) const = default;
};
std::string to_json(const bench::Sums& sums);

class Floor {
 public:
  Floor();
  ~Floor();
  // Inflates and walks one gzip file of whole members. `corrupt` where either half fails.
  Result<bench::Sums> run(std::span<const char> gzip_file);
  size_t json_bytes() const { return json_bytes_; }  // of the latest run

 private:
  Result<void> inflate(std::span<const char> gzip_file);
  struct Parser;
  std::unique_ptr<Parser> parser_;  // with its index of the text, kept warm too
  std::vector<char> text_;          // json_bytes_ of JSON, then the padding that simdjson may read
  size_t json_bytes_ = 0;
};

}  // namespace spotter::bench
