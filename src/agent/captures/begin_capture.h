// Begins a capture of the processes that a target means, for the API and for whoever asks inside of the
// agent. Launchers and workers, processes of others than the peer may trace, and of a job those that are not
// its owner's, are left out with a note.
#pragma once
#include <string>
#include <string_view>

#include "agent/agent.h"
#include "agent/captures/wanted_capture.h"
#include "base/notes.h"

namespace spotter::agent {

struct BegunCapture {
  std::string id;
  Notes notes;
};

// `what`: how it was asked for, for the log. An output that is empty becomes the first of the agent's
// directories. Errors: not_found (no process is meant, with why), denied, those of Captures::begin().
Result<BegunCapture> begin_capture(Agent& agent, const Peer& peer, WantedCapture wanted,
                                   std::string_view what);

}  // namespace spotter::agent
