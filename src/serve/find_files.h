// Which files of traces lie below a root. Symbolic links are passed over, so that nothing outside of a root
// is found; a root itself may be one, since its user named it. What begins with a dot is hidden.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace spotter::serve {

struct FoundFile {
  std::string name;
  i64 bytes = 0;
  Ns changed = 0;  // Unix time
  u64 device = 0, inode = 0;
  bool operator==(const FoundFile&) const = default;
};

struct FoundFolder {
  std::string path;              // as a command names it from where we are
  std::string below;             // the root; empty: the root itself
  std::vector<FoundFile> files;  // by name: what is called as traces and dumps of flight recorders are
  bool is_file = false;          // it is a root that is a file itself
};

// Folders that have any, by path; of a root that is a file itself alone, with its name below "". None where
// there is no such root.
std::vector<FoundFolder> find_folders(const std::string& root);

// Opens a plain file that was found, for reading. Errors: io (it is another one by now, a link perhaps).
Result<int> open_found(const std::string& path, const FoundFile& file);

}  // namespace spotter::serve
