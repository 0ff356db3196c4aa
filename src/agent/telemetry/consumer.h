// Consumer: who takes the samples of this host as they are made: what is newest, the history, push sinks. To
// add one: a file here with a ConsumerKind and its name in consumers.h.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/system/host.h"
#include "table/batch.h"

namespace spotter::agent {

struct TelemetryOptions;

class Consumer {
 public:
  virtual ~Consumer() = default;
  // Any thread. It waits for nobody: who takes his time has a queue, drops its oldest batch and counts it.
  virtual void offer(const SharedBatch& batch) = 0;
  // For the status; nullopt: there is nothing to tell of it. Any thread.
  virtual std::optional<SinkState> state() const { return std::nullopt; }
  // All consumers are told before the first one goes, so that they need not wait one after the other.
  virtual void begin_end() {}
};

struct ConsumerSite {
  const Host& host;
  const std::string& host_name;
  const TelemetryOptions& options;
};

struct ConsumerKind {
  // Those that the options ask for. Errors: invalid (what they say of them), busy.
  Result<std::vector<std::unique_ptr<Consumer>>> (*open)(const ConsumerSite& site);
};

}  // namespace spotter::agent
