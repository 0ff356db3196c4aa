// The repository that a process works in, from the files of `.git` in its working directory or above. They
// are somebody else's: they are read as the process's user may read them, no link is followed, nothing above
// the process's root is looked at, and no program is run. What is not as Git writes it is none.
#pragma once
#include <optional>
#include <string>

#include "base/system/host.h"
#include "base/system/user_ids.h"
#include "base/types.h"

namespace spotter::capture {

struct Repository {
  std::string source;  // its remote "origin" and the commit that is checked out (base/source_revision.h)
  std::string root;    // where it lies, as the process calls it
};

// `unmapped`: as ProcessRoot's.
std::optional<Repository> repository_of(const Host& host, i64 pid, i64 uid,
                                        std::optional<i64> unmapped = unmapped_uid());

}  // namespace spotter::capture
