// simulate: a Spec -> one trace per rank and truth.json in a folder.
//
// Two passes: schedule() finds when every collective ends; then each rank is run again by itself, and its
// events go to its file as they come. Between the passes 8 bytes are kept of a collective, and of a rank what
// truth.json says of it; nothing of an event.
#pragma once
#include <atomic>

#include "simulate/spec.h"

namespace spotter::simulate {

struct SimulateRequest {
  Spec spec;
  std::string folder;
  bool gzip = true, force = false;
  int threads = 1;
  const std::atomic<bool>* cancelled = nullptr;
};

struct SimulateReceipt {
  i64 traces = 0;
  i64 events = 0;  // in all of them
};

// Errors: invalid (the options do not fit each other), busy (the folder holds traces; force replaces them),
// cancelled (the traces that were whole by then are there, but no truth.json), io.
Result<SimulateReceipt> simulate(const SimulateRequest& request);

}  // namespace spotter::simulate
