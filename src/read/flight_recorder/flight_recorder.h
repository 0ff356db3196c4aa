// Dumps of PyTorch's flight recorder, one file for each rank: a pickle, or JSON of the same without stacks.
// Known are versions 2.0 to 2.10 of the format; of others what is known is read, and noted.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "read/plain_data/plain_data.h"
#include "trace/flight_record.h"

namespace spotter::read {

// The rank that the name of a dump tells: "nccl_trace_rank_3", "_dump_3", "fr_trace_3.json".
std::optional<i64> rank_of_flight_record(std::string_view path);

// By its name, which ends with the rank, and its first bytes.
bool begins_like_flight_record(const std::string& path);

// Any form of it, packed or not. Errors name the file: corrupt, unsupported (not plain data), invalid
// (something else).
Result<FlightRecord> load_flight_record(const FlightRecordFile& file);

// `data` has the bytes of `size` in it: what is made of it is bounded by that.
Result<FlightRecord> to_flight_record(const PlainData& data);

}  // namespace spotter::read
