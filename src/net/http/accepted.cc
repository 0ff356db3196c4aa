#include "net/http/accepted.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text/utf8.h"
#include "base/text/words.h"

namespace spotter::net {
namespace {

// What is before the next `mark`, which is taken off `rest`, too.
std::string_view take(std::string_view& rest, char mark) {
  const size_t end = rest.find(mark);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  return trimmed(part);
}

double read_quality(std::string_view text) {
  double quality = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quality);
  const bool is_one =
      error == std::errc() && end == text.data() + text.size() && quality >= 0 && quality <= 1;
  return is_one ? quality : 0;
}

}  // namespace

std::vector<Accepted> read_accepted(std::string_view header) {
  const std::string lower = ascii_lower(header);
  std::vector<Accepted> all;
  for (std::string_view rest(lower); !rest.empty();) {
    std::string_view item = take(rest, ',');
    Accepted accepted;
    accepted.name = take(item, ';');
    while (!item.empty()) {
      std::string_view value = take(item, ';');
      const std::string_view name = take(value, '=');
      if (name == "q") accepted.quality = read_quality(trimmed(value));
      if (name == "version") accepted.version = trimmed(value);
    }
    if (!accepted.name.empty()) all.push_back(std::move(accepted));
  }
  return all;
}

bool names(std::string_view header, std::string_view name) {
  return std::ranges::any_of(read_accepted(header),
                             [&](const Accepted& a) { return a.name == name && a.quality > 0; });
}

bool takes_gzip(std::string_view accept_encoding) {
  std::optional<double> gzip;
  double any = 0;
  for (const Accepted& a : read_accepted(accept_encoding)) {
    if (a.name == "gzip" || a.name == "x-gzip") gzip = std::max(gzip.value_or(0), a.quality);
    if (a.name == "*") any = a.quality;
  }
  return gzip.value_or(any) > 0;
}

}  // namespace spotter::net
