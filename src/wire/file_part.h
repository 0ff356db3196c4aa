// What GET /v1/captures/ID/file asks the reader of a user's files for (analyze-part), in the place of
// analyses: the file's own bytes, a part at a time, so that nobody holds a whole one.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace spotter::wire {

constexpr i64 kFilePartBytes = i64{4} << 20;  // the most that is answered at once

std::string file_part_text(i64 from);
// From which byte on; nullopt: the text asks for something else.
std::optional<i64> read_file_part(std::string_view text);

}  // namespace spotter::wire
