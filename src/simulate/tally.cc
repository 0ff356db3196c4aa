#include "simulate/tally.h"

#include <algorithm>

namespace spotter::simulate {

void Tally::memory(const Allocation& allocation, Ns at) {
  held_.at = at;
  held_.bytes += allocation.bytes;
  held_.by_use[static_cast<size_t>(allocation.use)] += allocation.bytes;
  if (held_.bytes > numbers_.memory.bytes) numbers_.memory = held_;
}

void Tally::end_step(Ns at, bool ended) {
  if (ended) step_.step = at - step_.start;
  sweep();
  add_to_whole();
  numbers_.steps.push_back(step_);
}

void Tally::collective(u32 number, bool is_of_all, Ns start, Ns transfer, Ns end) {
  if (numbers_.collectives.size() <= number) numbers_.collectives.resize(number + size_t{1});
  CollectiveNumbers& all = numbers_.collectives[number];
  ++all.calls;
  all.time += end - start;
  all.transfer += transfer;
  all.wait += end - start - transfer;
  if (!is_of_all) return;
  add(kCollective, start, end);
  add(kTransfer, end - transfer, end);
}

void Tally::sweep() {
  if (edges_.empty()) return;
  std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  step_.device_start = edges_.front().at;
  step_.device_end = edges_.back().at;
  std::array<i64, kCounts> running{};
  Ns now = step_.device_start;
  for (const Edge& edge : edges_) {
    const Ns passed = edge.at - now;
    const auto runs = [&](DeviceKind kind) { return running[static_cast<size_t>(kind)] > 0; };
    const bool computes = runs(DeviceKind::compute), communicates = runs(DeviceKind::communication);
    if (computes) step_.compute += passed;
    if (communicates) step_.communication += passed;
    if (runs(DeviceKind::copy)) step_.memory += passed;
    if (computes && communicates) step_.hidden += passed;
    if (!computes && !communicates && !runs(DeviceKind::copy)) step_.idle += passed;
    if (running[kTransfer] > 0)
      step_.transfer += passed;
    else if (running[kCollective] > 0)
      step_.wait += passed;
    running[edge.of] += edge.begins ? 1 : -1;
    now = edge.at;
  }
  edges_.clear();
}

// A step ends when its device work has, so no moment is in two of them.
void Tally::add_to_whole() {
  StepNumbers& whole = numbers_.whole;
  if (step_.window() == 0) return;
  if (whole.window() == 0) {
    whole.device_start = step_.device_start;
  } else {
    CHECK(step_.device_start >= whole.device_end);
    whole.idle += step_.device_start - whole.device_end;
  }
  whole.device_end = step_.device_end;
  whole.compute += step_.compute;
  whole.communication += step_.communication;
  whole.memory += step_.memory;
  whole.hidden += step_.hidden;
  whole.transfer += step_.transfer;
  whole.wait += step_.wait;
  whole.idle += step_.idle;
}

}  // namespace spotter::simulate
