#include "analyze/time/intervals.h"

#include <limits>

namespace spotter::analyze {

Union unite(const Union& a, const Union& b) {
  Union both;
  both.reserve(a.size() + b.size());
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool from_a = j == b.size() || (i < a.size() && a[i].start <= b[j].start);
    const Interval& next = from_a ? a[i++] : b[j++];
    extend(both, next.start, next.end);
  }
  return both;
}

Union unite(std::vector<Union> parts) {
  if (parts.empty()) return {};
  // In pairs, so that each interval is moved only log(parts) times.
  while (parts.size() > 1) {
    std::vector<Union> pairs;
    pairs.reserve(parts.size() / 2 + 1);
    for (size_t i = 0; i + 1 < parts.size(); i += 2) pairs.push_back(unite(parts[i], parts[i + 1]));
    if (parts.size() % 2 == 1) pairs.push_back(std::move(parts.back()));
    parts = std::move(pairs);
  }
  return std::move(parts.front());
}

Union intersection(const Union& a, const Union& b) {
  Union both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Ns start = std::max(a[i].start, b[j].start), end = std::min(a[i].end, b[j].end);
    if (start < end) both.push_back({start, end});
    ++(a[i].end < b[j].end ? i : j);
  }
  return both;
}

Union difference(const Union& a, const Union& b) {
  Union rest;
  size_t j = 0;
  for (const Interval& i : a) {
    Ns start = i.start;
    while (j < b.size() && b[j].end <= start) ++j;
    for (size_t k = j; k < b.size() && b[k].start < i.end; ++k) {
      if (start < b[k].start) rest.push_back({start, b[k].start});
      start = std::max(start, b[k].end);
    }
    if (start < i.end) rest.push_back({start, i.end});
  }
  return rest;
}

Ns length(const Union& u) {
  Ns sum = 0;
  for (const Interval& i : u) sum += i.end - i.start;
  return sum;
}

std::array<Ns, 8> time_by_set(const Unions& unions) {
  constexpr Ns kNever = std::numeric_limits<Ns>::max();
  std::array<Ns, 8> time{};
  std::array<size_t, 3> boundaries_passed{};  // odd: inside an interval
  auto next_boundary = [&](size_t k) {
    const size_t passed = boundaries_passed[k];
    if (passed / 2 == unions[k].size()) return kNever;
    const Interval& interval = unions[k][passed / 2];
    return passed % 2 == 0 ? interval.start : interval.end;
  };
  std::array<Ns, 3> next = {next_boundary(0), next_boundary(1), next_boundary(2)};
  size_t active = 0;
  Ns now = 0;
  while (true) {
    const size_t k = next[0] <= next[1] ? (next[0] <= next[2] ? 0 : 2) : (next[1] <= next[2] ? 1 : 2);
    if (next[k] == kNever) break;
    if (active != 0) time[active] += next[k] - now;
    now = next[k];
    active ^= size_t{1} << k;
    ++boundaries_passed[k];
    next[k] = next_boundary(k);
  }
  return time;
}

}  // namespace spotter::analyze
