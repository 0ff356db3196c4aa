#include "net/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
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

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const u8*>(bytes.data()),
       bytes.size(), reinterpret_cast<u8*>(digest.data()), nullptr);
  return digest;
}

}  // namespace spotter::net
