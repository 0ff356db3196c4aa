#include "serve/guard.h"

#include <algorithm>

#include "base/text/utf8.h"
#include "base/text/words.h"
#include "net/http/cross_site.h"
#include "serve/token.h"

namespace spotter::serve {
namespace {

std::string shown_word(std::string_view text) {
  constexpr size_t kShown = 100;
  return to_printable(text.substr(0, kShown));
}

}  // namespace

Result<void> Guard::check_site(const net::HttpRequest& request) const {
  const std::string name = net::name_in_host(request.host);
  const bool is_other = std::ranges::find(other_names, name) != other_names.end();
  if (!is_other) {
    if (const auto is = net::check_host(request, own_name); !is)
      return fail(Code::denied, "{}, or allow it: --allow-host", is.error().message);
  }
  if (request.origin.empty()) return {};
  if (request.host.empty()) return fail(Code::denied, "a request with an Origin needs a Host");
  // A proxy may speak TLS in our place.
  const std::string origin = ascii_lower(request.origin), host = ascii_lower(request.host);
  if (origin == scheme + "://" + host || (is_other && origin == "https://" + host)) return {};
  return fail(Code::denied, "a web page of another site ({}) may not ask for this",
              shown_word(request.origin));
}

Result<void> Guard::check_fetch(const net::HttpRequest& request) const {
  if (ascii_lower(request.sec_fetch_site) != "cross-site") return {};
  return fail(Code::denied, "a web page of another site may not ask for this: Sec-Fetch-Site is cross-site");
}

std::optional<AccessRole> Guard::role_of(const net::HttpRequest& request) const {
  constexpr std::string_view kBearer = "bearer ";
  const std::string_view said = request.authorization;
  if (ascii_lower(said.substr(0, kBearer.size())) != kBearer) return std::nullopt;
  const std::string_view word = trimmed(said.substr(kBearer.size()));
  if (is_same_token(word, token)) return AccessRole::admin;
  if (!view_token.empty() && is_same_token(word, view_token)) return AccessRole::view;
  return std::nullopt;
}

bool names_etag(std::string_view if_none_match, std::string_view etag) {
  while (!if_none_match.empty()) {
    const size_t comma = std::min(if_none_match.find(','), if_none_match.size());
    std::string_view one = trimmed(if_none_match.substr(0, comma));
    if_none_match.remove_prefix(std::min(comma + 1, if_none_match.size()));
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == "*" || one == etag) return true;
  }
  return false;
}

}  // namespace spotter::serve
