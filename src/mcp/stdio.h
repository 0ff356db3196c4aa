// The server on standard input and output: a message a line, as many at once as there is use for.
#pragma once
#include "mcp/world.h"

namespace spotter::mcp {

// Reads messages from `input` until its end, writes answers, each as a line, to `output`, and gives what runs
// then two seconds to end. Errors: io (nobody reads what is written).
Result<void> serve_stdio(World& world, int input, int output);

}  // namespace spotter::mcp
