// Job: all that a simulation runs on. Made once, then const and shared by all threads.
#pragma once
#include "simulate/layout.h"
#include "simulate/program.h"

namespace spotter::sim {

struct Job {
  explicit Job(const Spec& s) : spec(s), layout(s) {
    for (i64 stage = 0; stage < s.pipeline; ++stage) programs.push_back(build_program(spec, stage));
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const Program& program(i64 rank) const { return programs[static_cast<size_t>(layout.stage(rank))]; }

  const Spec spec;
  const Layout layout;
  std::vector<Program> programs;  // by pipeline stage
};

}  // namespace spotter::sim
