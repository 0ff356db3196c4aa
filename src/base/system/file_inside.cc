#include "base/system/file_inside.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

namespace spotter {

Descriptor find_inside(int root, const std::string& path, u64 flags) {
  open_how how{};
  how.flags = flags | O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
  return Descriptor(static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

Descriptor open_for_reading(const Descriptor& found) {
  return Descriptor(::open(fmt::format("/proc/self/fd/{}", found.fd).c_str(),
                           O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

}  // namespace spotter
