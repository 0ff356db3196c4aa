// What conditions were looked for on a host and not found: what an incident says is not the cause. A rule
// that had nothing to look at says nothing.
#pragma once
#include <set>
#include <string>
#include <vector>

namespace spotter::respond {

// `looked`: rules that had signs lately; `firing`: those that fire. Sentences: "network: no errors on the
// links of gpu01".
std::vector<std::string> ruled_out(const std::set<std::string>& looked, const std::set<std::string>& firing,
                                   const std::string& host);

}  // namespace spotter::respond
