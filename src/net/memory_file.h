// Files in memory: what a child process reads and writes, so that nobody waits at a pipe.
#pragma once
#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/system/descriptor.h"

namespace spotter::net {

// An empty one; `name` is for /proc. Errors: io.
Result<Descriptor> memory_file(const char* name);
// To be read from its start. Errors: io.
Result<Descriptor> memory_file_of(const std::string& text);

// `most` bytes from `start`, or what there is.
std::string contents(const Descriptor& file, off_t start, size_t most);

}  // namespace spotter::net
