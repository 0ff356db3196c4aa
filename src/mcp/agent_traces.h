// Captures of agents: each has its files analysed by the agents that have them.
#pragma once
#include "mcp/cached_traces.h"

namespace spotter::mcp {

class AgentTraces : public CachedTraces {
 public:
  explicit AgentTraces(const Agents& agents, size_t most_kept = kUsuallyKept)
      : CachedTraces(most_kept), agents_(agents) {}
  // Those of several hosts that began together, of one job, are one.
  Result<std::vector<Capture>> captures(const Patience& patience) override;
  std::string options() const override { return agents_.options(); }

 protected:
  Result<diagnose::Diff> compare(const Capture& before, const Capture& after,
                                 diagnose::DiffRequest request) override;
  Result<diagnose::Diagnosis> diagnose(const Capture& capture, diagnose::Request request) override;

 private:
  struct Part {
    size_t host;
    std::string id, state, job, output;
    Ns began;
    i64 written;
  };
  // By the id of the whole.
  Result<std::vector<std::vector<Part>>> parts(const Patience& patience) const;
  Capture capture_of(const std::vector<Part>& parts) const;

  const Agents& agents_;
};

}  // namespace spotter::mcp
