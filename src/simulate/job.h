// Job: all that a simulation runs on. Made once, then const and shared by all threads.
#pragma once
#include <atomic>

#include "simulate/faults/shares.h"
#include "simulate/layout.h"
#include "simulate/program.h"

namespace spotter::simulate {

struct Job {
  explicit Job(const Spec& s, const std::atomic<bool>* cancel = nullptr)
      : spec(s), layout(s), shares(spec, layout), cancelled(cancel) {
    for (i64 stage = 0; stage < s.pipeline; ++stage) programs.push_back(build_program(spec, stage));
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const Program& program(i64 rank) const { return programs[static_cast<size_t>(layout.stage(rank))]; }

  bool is_cancelled() const { return cancelled && cancelled->load(std::memory_order_relaxed); }

  const Spec spec;
  const Layout layout;
  const Shares shares;
  const std::atomic<bool>* const cancelled;
  std::vector<Program> programs;  // by pipeline stage
};

}  // namespace spotter::simulate
