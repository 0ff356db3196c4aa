#include "mcp/cursor.h"

#include <algorithm>

#include "base/text/base64.h"
#include "base/text/number.h"
#include "base/version.h"
#include "net/digest.h"

namespace spotter::mcp {
namespace {

constexpr size_t kDigits = 16, kMacBytes = 12;

// One program's cursors are the same each time, as its answers are; another one's are not taken for them.
std::string mac_of(std::string_view text) {
  return net::hmac_sha256(fmt::format("spotter {} cursor", kVersion), text).substr(0, kMacBytes);
}

std::string question_of(const std::string& tool, const std::string& arguments) {
  return digest_of(tool + "\n" + arguments);
}

// Base64 for addresses (RFC 4648, section 5), without padding.
std::string encoded(std::string_view bytes) {
  std::string text = to_base64(bytes);
  while (!text.empty() && text.back() == '=') text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::optional<std::string> decoded(std::string text) {
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  while (text.size() % 4 != 0) text += '=';
  return from_base64(text);
}

}  // namespace

std::string digest_of(std::string_view text) { return net::sha256(text).substr(0, kDigits); }

std::string cursor_text(const Cursor& cursor) {
  const std::string said = fmt::format("{}{}{}", question_of(cursor.tool, cursor.arguments),
                                       digest_of(cursor.version), cursor.offset);
  return encoded(mac_of(said) + said);
}

Result<Cursor> read_cursor(const std::string& text, const std::string& tool, const std::string& arguments) {
  const auto bytes = decoded(text);
  const auto none = [] {
    return fail(Code::invalid, "cursor: it is none of an answer of this program; ask without it");
  };
  if (!bytes || bytes->size() <= kMacBytes + 2 * kDigits || encoded(*bytes) != text) return none();
  const std::string said = bytes->substr(kMacBytes);
  const auto offset = number_in<size_t>(std::string_view(said).substr(2 * kDigits));
  if (mac_of(said) != bytes->substr(0, kMacBytes) || !offset) return none();
  if (said.substr(0, kDigits) != question_of(tool, arguments))
    return fail(Code::invalid, "cursor: it is of another question; give the arguments of that one beside it");
  return Cursor{tool, arguments, said.substr(kDigits, kDigits), *offset};
}

}  // namespace spotter::mcp
