// Python pickles of plain data, protocols 2 to 5, read without running anything: what would look up a class
// or a function, call one or build an object is refused, as is whatever no writer of plain data needs.
// Format: CPython's Lib/pickletools.py.
//
// Time and memory follow the size of the input. Lengths are held against what is left before anything is
// made of them; strings stay where they are; shared parts stay shared.
#pragma once
#include <string>

#include "base/result.h"
#include "read/plain_data/plain_data.h"

namespace spotter::read {

// Whether a file that begins so may be a pickle: the opcode PROTO with a protocol from 2 on.
bool begins_like_pickle(std::string_view text);

// The errors say what is wrong and at which byte: corrupt (cut off or damaged), unsupported (not plain data,
// or more of it than the limits allow).
Result<PlainData> parse_pickle(std::string bytes, const DataLimits& limits = {});

}  // namespace spotter::read
