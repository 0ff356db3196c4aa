// The file system as a traced process sees it (its root, perhaps a container's). What lies there belongs to
// whoever wrote it: no link is followed, nothing but plain files is opened, and a file counts only if it
// belongs to the process's user.
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/system/host.h"
#include "base/system/user_ids.h"
#include "base/types.h"

namespace spotter::capture {

// What is to be seen of a capture's file.
struct FileLook {
  bool begun = false;    // the temporary one is there: "<path>.tmp"
  Ns begun_at = 0;       // Unix time; while nothing is written into it
  bool written = false;  // the file is there; it appears whole, by a rename
  bool foreign = false;  // but it is another user's, or not a plain file
  i64 size_bytes = 0;
  Ns changed = 0;  // Unix time; a rename counts
  bool has_events = false;
};

struct Disk {
  i64 free_bytes = 0;  // for whoever is not root
  i64 size_bytes = 0;
};

class ProcessRoot {
 public:
  ProcessRoot() = default;
  // Where another user's root may not be opened: this process's own. `unmapped`: who owns nothing, since all
  // whom the user namespace does not map look like him.
  static ProcessRoot open(const Host& host, i64 pid, std::optional<i64> unmapped = unmapped_uid());
  ~ProcessRoot();
  ProcessRoot(ProcessRoot&& other) noexcept { *this = std::move(other); }
  ProcessRoot& operator=(ProcessRoot&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(unmapped_, other.unmapped_);
    return *this;
  }

  FileLook look(const std::string& path, i64 uid) const;
  // For reading. Errors: not_found (also where it has another size, and so is another file), denied (it is
  // not a plain file of that user, or a link is on the way), io.
  Result<Descriptor> open_file(const std::string& path, i64 uid, i64 size_bytes) const;
  // Errors: invalid (no such directory), denied (that user may not write there, as far as can be told
  // without his groups), invalid (a link is on the way: what lies behind it is another directory than the one
  // that was allowed).
  Result<void> check_directory(const std::string& directory, i64 uid) const;
  // That the directory lies on; nothing: it cannot be told.
  std::optional<Disk> disk(const std::string& directory) const;

 private:
  int fd_ = -1;
  std::optional<i64> unmapped_;
};

}  // namespace spotter::capture
