// Url: where a server is that speaks HTTP.
#pragma once
#include <string>

#include "base/result.h"
#include "base/types.h"

namespace spotter::net {

struct Url {
  bool is_plain = false;  // http://; else https://
  std::string host;       // a name or an IP address, without brackets
  u16 port = 0;
  std::string path;  // from the first slash on, with the query; "/" where there is none
};

// Errors: invalid. A user's name and password before the host are none of it: they are headers.
Result<Url> parse_url(const std::string& text);

}  // namespace spotter::net
