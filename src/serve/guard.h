// Guard: who may ask the server, by what a request says of itself. A browser may be made to ask by the page
// of another site, and other users of the machine reach the port, too: the first are known by Host, Origin
// and Sec-Fetch-Site (docs/decisions/0020), the others have no token.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "net/http/http.h"

namespace spotter::serve {

// What the holder of a token may, as agents' configurations name it: a viewer is shown all and changes
// nothing, an admin does what the credentials of who runs the server permit.
enum class AccessRole : u8 { view, admin };

struct Guard {
  std::string token;
  std::string view_token = {};  // of viewers; empty: there are none
  std::string scheme = "http";
  std::string own_name;                  // of this host
  std::vector<std::string> other_names;  // by which a proxy asks; in lower case, without ports

  // Of every request. Errors: denied.
  Result<void> check_site(const net::HttpRequest& request) const;
  // Of one for what is below /v1, which is all that says anything of traces. Errors: denied.
  Result<void> check_fetch(const net::HttpRequest& request) const;
  std::optional<AccessRole> role_of(const net::HttpRequest& request) const;  // none: it has no token
};

// Whether If-None-Match names this ETag; compared weakly, as for GET it is (RFC 9110, 13.1.2).
bool names_etag(std::string_view if_none_match, std::string_view etag);

}  // namespace spotter::serve
