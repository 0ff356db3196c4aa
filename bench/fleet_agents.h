// Two thousand agents as a capture on many hosts meets them: loopback addresses on which one process answers
// by TLS as agents do, with one traced process each; some that nobody listens on, and some that never answer.
// Clients have a token: to check two thousand certificates would be the work of as many hosts, not of this
// one.
#pragma once
#include <memory>
#include <string>

#include "base/result.h"
#include "bench/agent_process.h"

namespace spotter::bench {

struct FleetShape {
  int count, dead, stuck;  // `dead` and `stuck` of `count`
  Ns write_time;           // from the first request until all have written their traces
};

class FleetAgents {
 public:
  static Result<std::unique_ptr<bench::FleetAgents>> start(const bench::FleetShape& shape);
  ~FleetAgents();

  std::string hostfile() const { return folder_.path() + "/hosts"; }
  std::string credentials() const { return folder_.path() + "/client"; }
  int asked() const;      // to begin, so far
  Ns last_asked() const;  // of the steady clock

 private:
  struct Shared;
  FleetAgents() = default;
  Result<void> serve(const bench::FleetShape& shape) const;
  bench::Folder folder_;
  Shared* shared_ = nullptr;
  std::unique_ptr<bench::Child> child_;
};

}  // namespace spotter::bench
