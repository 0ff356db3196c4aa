#include "notify/secret.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/system/descriptor.h"
#include "base/text/words.h"
#include "notify/words.h"

namespace spotter::notify {
namespace {

constexpr size_t kMost = 4096;  // bytes of one

}  // namespace

Result<std::string> read_secret(const std::string& path) {
  // Not to wait for who writes to a pipe.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd < 0) {
    const Code code = errno == ENOENT ? Code::not_found : errno == EACCES ? Code::denied : Code::io;
    return fail(code, "the file {} of a secret: {}", path, errno_text(errno));
  }
  struct stat info{};
  if (fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode))
    return fail(Code::invalid, "the file {} of a secret is no plain file", path);
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fail(Code::denied, "others may read the file {} of a secret: chmod 600 {}", path, path);
  std::array<char, kMost + 1> bytes{};
  const ssize_t size = read(file.fd, bytes.data(), bytes.size());
  if (size < 0) return fail(Code::io, "the file {} of a secret: {}", path, errno_text(errno));
  const std::string_view text = trimmed({bytes.data(), static_cast<size_t>(size)});
  const bool is_line = std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
  if (text.empty() || static_cast<size_t>(size) > kMost || !is_line)
    return fail(Code::invalid, "the file {} of a secret must have one line of at most {} letters", path,
                kMost);
  return std::string(text);
}

std::string without_secrets(std::string text, const std::vector<std::string>& secrets) {
  constexpr size_t kMostWords = 200;
  constexpr size_t kMostLooked = 16384;
  text.resize(std::min(text.size(), kMostLooked));
  for (const std::string& secret : secrets) {
    if (secret.empty()) continue;
    for (size_t at = 0; (at = text.find(secret, at)) != text.npos;) text.replace(at, secret.size(), "…");
  }
  return clean(trimmed(text), kMostWords);
}

}  // namespace spotter::notify
