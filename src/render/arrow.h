// A table as an Arrow C stream (arrow_abi.h), which Python's Arrow libraries, among others, read without a
// copy. Every level of what a stream gives (schema, array, child, dictionary) holds a share of the table, so
// each may be moved out and outlive its parent and the stream. Calls on one stream come one after the other,
// from any thread.
#pragma once
#include "render/arrow_abi.h"
#include "render/arrow_table.h"

namespace spotter::render {

// The rows are one array of structs, also where there are none. The caller owns what he gets.
ArrowArrayStream arrow_stream(SharedArrowTable table);
ArrowSchema arrow_schema(const SharedArrowTable& table);

}  // namespace spotter::render
