#include "serve/token.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/system/descriptor.h"
#include "base/types.h"

namespace spotter::serve {
namespace {

constexpr size_t kLeast = 16, kMost = 256;

bool is_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("-._~").find(c) != std::string_view::npos;
}

}  // namespace

std::string random_token() {
  std::array<u8, 16> bits{};
  for (size_t have = 0; have < bits.size();) {
    const ssize_t n = ::getrandom(bits.data() + have, bits.size() - have, 0);
    CHECK(n > 0 || errno == EINTR);
    if (n > 0) have += static_cast<size_t>(n);
  }
  std::string token;
  for (const u8 byte : bits) token += fmt::format("{:02x}", byte);
  return token;
}

Result<std::string> read_token(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd < 0)
    return fail(errno == ENOENT ? Code::not_found : Code::io, "the token file {}: {}", path,
                errno_text(errno));
  struct stat info;
  if (::fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode))
    return fail(Code::invalid, "the token file {} is no plain file", path);
  if (info.st_uid != ::geteuid() || (info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fail(Code::denied, "the token file {} must be yours and for nobody else: chmod 600 {}", path,
                path);
  std::array<char, kMost + 2> text{};
  const ssize_t n = ::read(file.fd, text.data(), text.size());
  if (n < 0) return fail(Code::io, "the token file {}: {}", path, errno_text(errno));
  std::string token(text.data(), static_cast<size_t>(n));
  token.resize(std::min(token.size(), token.find_first_of("\r\n")));
  if (token.size() < kLeast || token.size() > kMost || !std::ranges::all_of(token, is_letter))
    return fail(Code::invalid,
                "the token file {} must have {} to {} letters, digits and -._~ in its first line", path,
                kLeast, kMost);
  return token;
}

bool is_same_token(std::string_view one, std::string_view other) {
  unsigned differs = one.size() != other.size();
  for (size_t i = 0; i < std::min(one.size(), other.size()); ++i)
    differs |= static_cast<unsigned>(static_cast<u8>(one[i]) ^ static_cast<u8>(other[i]));
  return differs == 0;
}

}  // namespace spotter::serve
