// Files below a root that is somebody else's, such as a container's. A file is found before it is opened,
// since to open a device may already do something; no link is followed, and nothing leads out of the root.
#pragma once
#include <string>

#include "base/system/descriptor.h"
#include "base/types.h"

namespace spotter {

// For looking at it (O_PATH), with further flags of open(2). -1 with errno where there is no such file;
// ELOOP: there is a link in the path.
Descriptor find_inside(int root, const std::string& path, u64 flags = 0);
// What a file that was found holds. -1 with errno where it may not be read.
Descriptor open_for_reading(const Descriptor& found);

}  // namespace spotter
