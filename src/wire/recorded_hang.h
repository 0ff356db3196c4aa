// What an agent asks the reader of a user's files for (analyze-part) of dumps of PyTorch's flight recorder,
// in the place of analyses: who does not arrive. The answer is a table, with the notes of the dumps.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "respond/hang.h"
#include "table/table.h"

namespace spotter::wire {

inline constexpr std::string_view kRecordedHangRequest = "who does not arrive";

// A row for each rank that does not: its number, what it is that it does, whether its dump is missing.
Table recorded_hang_table();

struct RecordedHangAnswer {
  std::optional<respond::RecordedHang> hang = {};  // nothing: nobody waits for anybody
  std::string loss = {};                           // of a dump that could not be read; empty: all were
};
// Errors: corrupt.
Result<RecordedHangAnswer> read_recorded_hang(const std::string& text);

}  // namespace spotter::wire
