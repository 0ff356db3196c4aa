#include "net/memory_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace spotter::net {

Result<Descriptor> memory_file(const char* name) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC));
  if (file.fd < 0) return fail(Code::io, "no file in memory can be made: {}", errno_text(errno));
  return file;
}

Result<Descriptor> memory_file_of(const std::string& text) {
  TRY_ASSIGN(Descriptor file, memory_file("input"));
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(file.fd, text.data() + done, text.size() - done);
    if (n <= 0) return fail(Code::io, "a file in memory cannot be written: {}", errno_text(errno));
    done += static_cast<size_t>(n);
  }
  if (lseek(file.fd, 0, SEEK_SET) != 0) return fail(Code::io, "a file in memory: {}", errno_text(errno));
  return file;
}

std::string contents(const Descriptor& memory, off_t start, size_t most) {
  struct stat file;
  if (fstat(memory.fd, &file) != 0 || file.st_size <= start) return {};
  std::string text(std::min(most, static_cast<size_t>(file.st_size - start)), '\0');
  size_t done = 0;
  for (ssize_t n = 1; n > 0 && done < text.size(); done += static_cast<size_t>(std::max<ssize_t>(n, 0)))
    n = pread(memory.fd, text.data() + done, text.size() - done, start + static_cast<off_t>(done));
  text.resize(done);
  return text;
}

}  // namespace spotter::net
