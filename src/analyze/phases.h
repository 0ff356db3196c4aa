// Phases: wall time of each phase of a run, added up over threads. Any thread may time any phase.
#pragma once
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "analyze/run.h"

namespace spotter::analyze {

class Phases {
 public:
  explicit Phases(std::vector<std::string> names) : names_(std::move(names)), ns_(names_.size()) {}

  template <class F>
  auto time(size_t phase, F f) {
    const auto start = std::chrono::steady_clock::now();
    auto result = f();
    ns_[phase] += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
    return result;
  }
  std::vector<PhaseTime> times() const {
    std::vector<PhaseTime> times;
    for (size_t i = 0; i < names_.size(); ++i) times.push_back({names_[i], ns_[i]});
    return times;
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::atomic<Ns>> ns_;
};

}  // namespace spotter::analyze
