#include "net/address.h"

#include <algorithm>

#include "base/text/quantity.h"
#include "base/text/utf8.h"

namespace spotter::net {

Result<HttpAddress> parse_address(const std::string& word, u16 usual_port) {
  HttpAddress address;
  address.port = usual_port;
  std::string port;
  const size_t first = word.find(':'), last = word.rfind(':');
  if (word.starts_with('[')) {
    const size_t close = word.find(']');
    if (close == word.npos) return fail(Code::invalid, "\"{}\": a [ has no ]", to_printable(word));
    address.host = word.substr(1, close - 1);
    if (close + 1 < word.size()) {
      if (word[close + 1] != ':')
        return fail(Code::invalid, "\"{}\" is no [ADDRESS]:PORT", to_printable(word));
      port = word.substr(close + 2);
    }
  } else if (first != last) {
    address.host = word;  // an IPv6 address without a port
  } else {
    address.host = word.substr(0, first);
    if (first != word.npos) port = word.substr(first + 1);
  }
  if (address.host.empty()) return fail(Code::invalid, "\"{}\" names no host", to_printable(word));
  if (word.ends_with(':') && first == last)
    return fail(Code::invalid, "\"{}\" names no port", to_printable(word));
  if (!port.empty()) {
    const Result<i64> number = parse_number(port, 1, UINT16_MAX);
    if (!number) return within(number.error(), word);
    address.port = static_cast<u16>(*number);
  }
  return address;
}

}  // namespace spotter::net
