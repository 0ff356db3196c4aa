// Files by name; small whole files: read at once, written so that a reader sees the old contents or the new,
// never a part.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/types.h"

namespace spotter {

// The part behind the last slash; "-" is standard input.
inline std::string_view base_name(std::string_view path) {
  return path == "-" ? "standard input" : path.substr(path.rfind('/') + 1);
}

// The contents of a file (also of /proc, whose sizes read 0). Errors: not_found, denied, io; invalid where it
// is longer than max_bytes.
Result<std::string> read_small_file(const std::string& path, size_t max_bytes);

// The names in a directory, without "." and ".."; none where it cannot be read.
std::vector<std::string> names_in(const std::string& directory);

// Writes a temporary file in the same directory, syncs it to disk and renames it to `path`; on failure the
// temporary is removed and `path` is as before. It has no name until then where the file system knows such
// files: whoever is killed leaves nothing. Of a symbolic link the file that it names is replaced, unless
// somebody else planted it (check_links). A file that was there keeps its mode, and its owner where that may
// be. What is no file (a device, a pipe) is written to. Errors: not_found (no such directory), denied, io.
Result<void> write_file_atomically(const std::string& path, std::string_view bytes);

// The same, written piece by piece. Until commit() the path is as before, and without one it stays so.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept
      : file_(std::move(other.file_)),
        shown_(std::move(other.shown_)),
        target_(std::move(other.target_)),
        temporary_(std::exchange(other.temporary_, {})) {}
  AtomicFile& operator=(AtomicFile&&) = delete;

  Result<void> write(std::string_view bytes);
  Result<void> commit();  // nothing may follow

 private:
  friend Result<void> replace_file_atomically(const std::string& path, std::string_view bytes, mode_t mode);
  static constexpr mode_t kMode = 0666;  // the umask takes from it
  // `shown`: what the errors call it; with an empty `target` it is written in place.
  AtomicFile(std::string shown, std::string target) : shown_(std::move(shown)), target_(std::move(target)) {}
  Result<void> open_temporary(mode_t mode = kMode);

  Descriptor file_;
  std::string shown_, target_, temporary_;  // temporary_: empty where there is none to remove
};

// As write_file_atomically, but whatever has the name is replaced and never followed, nor is its mode kept:
// for folders in which others may write. The umask takes from `mode`.
Result<void> replace_file_atomically(const std::string& path, std::string_view bytes, mode_t mode = 0666);

}  // namespace spotter
