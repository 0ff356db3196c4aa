#include "app/output.h"

#include <cerrno>
#include <cstdio>

#include "base/file.h"

namespace spotter {

Result<void> write_output(const std::string& path, std::string_view bytes) {
  if (!path.empty()) return write_file_atomically(path, bytes);
  const bool whole =
      std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && std::fflush(stdout) == 0;
  if (!whole && errno == EPIPE) return {};  // the reader has seen enough
  if (!whole) return fail(Code::io, "standard output cannot be written: {}", errno_text(errno));
  return {};
}

}  // namespace spotter
