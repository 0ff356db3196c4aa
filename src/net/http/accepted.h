// What a client accepts, by the headers Accept and Accept-Encoding: RFC 9110, 12.4 and 12.5. Parameters in
// quotation marks are not understood.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace spotter::net {

struct Accepted {
  std::string name;     // "text/plain", "gzip", "*"; lower case
  std::string version;  // the parameter of that name; empty without one
  double quality = 1;   // 0: not accepted
};

// In the order of the header. A quality that is none is 0.
std::vector<Accepted> read_accepted(std::string_view header);

// Whether it is accepted by its own name: "*" is not enough.
bool names(std::string_view header, std::string_view name);
bool takes_gzip(std::string_view accept_encoding);  // by that header

}  // namespace spotter::net
