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

std::string to_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // with the end that OpenSSL writes
  EVP_EncodeBlock(reinterpret_cast<u8*>(text.data()), reinterpret_cast<const u8*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  if (EVP_DecodeBlock(reinterpret_cast<u8*>(bytes.data()), reinterpret_cast<const u8*>(text.data()),
                      static_cast<int>(text.size())) < 0)
    return std::nullopt;
  // It counts what pads the end as bytes.
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace spotter::net
