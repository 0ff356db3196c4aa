// Measuring: what was measured of a job's ranks in the last minute, on their hosts, for an incident that
// nothing is traced for: `spotter investigate --only-measured`, a few at once. The loop's thread.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/incidents/investigation.h"
#include "agent/respond_options.h"
#include "net/loop.h"
#include "respond/incidents/members.h"

namespace spotter::agent {

class Measuring {
 public:
  Measuring(net::Loop& loop, const RespondOptions& options) : loop_(loop), options_(options) {}

  // `done` has what was measured, and no receipts. It is called once, at once where too many are asked for
  // (busy), and not after this has gone.
  void ask(const respond::Incident& incident, const respond::Chosen& whom,
           std::function<void(const Result<Investigated>&)> done);

 private:
  net::Loop& loop_;
  const RespondOptions& options_;
  std::map<std::string, std::unique_ptr<Investigation>> asked_;  // by the incident's id
};

}  // namespace spotter::agent
