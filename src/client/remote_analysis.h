// The traces of a capture where they are: those that this host has are named, and the agents that have the
// others analyse them, all at once.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/run.h"
#include "client/credentials.h"
#include "client/fleet.h"

namespace spotter::client {

struct RemoteAnalysis {
  struct Missing {
    net::HttpAddress host;
    Error error;
  };
  std::vector<std::string> here;  // files that are still to be read
  std::vector<analyze::FileResult>
      elsewhere;                 // what other hosts' agents have made of theirs, for the request
  std::vector<Missing> missing;  // hosts that could not be asked, and why
};

// `members`: of a capture that is over. `output`: the directory of the traces on this host, if they go to
// one; nothing: none is read here, whoever has it.
RemoteAnalysis analyze_where_written(std::span<const Fleet::Member> members, const Credentials& credentials,
                                     const std::optional<std::string>& output,
                                     const analyze::RunRequest& request);

}  // namespace spotter::client
