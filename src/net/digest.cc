#include "net/digest.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>

#include "base/types.h"

namespace spotter::net {

std::string sha256(std::string_view bytes) {
  std::array<u8, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const u8*>(bytes.data()), bytes.size(), digest.data());
  std::string text;
  for (const u8 byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace spotter::net
