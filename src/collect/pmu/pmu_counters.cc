#include "collect/pmu/pmu_counters.h"

#include <algorithm>
#include <cerrno>

#include "base/saturated.h"

namespace spotter::collect {
namespace {

constexpr size_t kHead = 3;  // how many, time enabled, time running: PERF_FORMAT_GROUP of perf_event_open(2)
constexpr size_t kMostEvents = 16;
constexpr i64 kMostCpus = 65536;

// The machine lacks the event; the others of its group are counted without it.
bool is_missing(int error) {
  return error == ENOENT || error == EINVAL || error == EOPNOTSUPP || error == ENODEV || error == E2BIG;
}

i64 to_count(u64 value) {
  constexpr u64 kMost = static_cast<u64>(std::numeric_limits<i64>::max());
  return static_cast<i64>(std::min(value, kMost));
}

// What the count would be, had the group run all the time.
i64 scaled(u64 count, u64 enabled, u64 running) {
  if (running >= enabled) return to_count(count);
  const double value =
      static_cast<double>(count) * static_cast<double>(enabled) / static_cast<double>(running);
  return value < 9e18 ? static_cast<i64>(value) : std::numeric_limits<i64>::max();
}

i64 times(i64 weight, i64 value) {
  i64 product = 0;
  if (!__builtin_mul_overflow(weight, value, &product)) return product;
  return weight < 0 ? std::numeric_limits<i64>::min() : std::numeric_limits<i64>::max();
}

}  // namespace

PmuCounters::PmuCounters(PerfSystem system, std::vector<PlannedGroup> groups)
    : system_(std::move(system)), plan_(std::move(groups)), states_(plan_.size()) {
  for (size_t i = 0; i < plan_.size(); ++i) {
    if (plan_[i].events.size() > kMostEvents) plan_[i].events.resize(kMostEvents);
    states_[i].has_run.resize(plan_[i].events.size());
  }
}

size_t PmuCounters::descriptors() const {
  size_t count = 0;
  for (const OpenGroup& group : open_) count += group.events.size();
  return count;
}

void PmuCounters::follow(const std::vector<i64>& online) {
  online_.clear();
  std::vector<bool> is_online(1);
  for (const i64 cpu : online) {
    if (cpu < 0 || cpu >= kMostCpus) continue;
    online_.push_back(cpu);
    if (cpu >= static_cast<i64>(is_online.size())) is_online.resize(static_cast<size_t>(cpu) + 1);
    is_online[static_cast<size_t>(cpu)] = true;
  }
  const auto has = [&](i64 cpu) {
    return cpu >= 0 && cpu < static_cast<i64>(is_online.size()) && is_online[static_cast<size_t>(cpu)];
  };
  std::erase_if(open_, [&](const OpenGroup& group) { return group.is_dead || !has(group.cpu); });
  left_out_ = 0;
  size_t used = descriptors();
  for (size_t i = 0; i < plan_.size(); ++i) {
    GroupState& state = states_[i];
    state.wanted = 0;
    state.error = 0;
    std::vector<bool> is_open(is_online.size());
    for (const OpenGroup& group : open_)
      if (group.plan == i) is_open[static_cast<size_t>(group.cpu)] = true;
    std::vector<i64> missing;
    for (const i64 cpu : plan_[i].cpus.empty() ? online_ : plan_[i].cpus) {
      if (!has(cpu)) continue;
      ++state.wanted;
      if (!is_open[static_cast<size_t>(cpu)]) missing.push_back(cpu);
    }
    const size_t needed = missing.size() * plan_[i].events.size();
    if (used + needed > system_.most_descriptors) {
      ++left_out_;
      state.error = EMFILE;
      continue;
    }
    used += needed;
    for (const i64 cpu : missing) open_group(i, cpu);
  }
  count_open();
}

void PmuCounters::open_group(size_t plan, i64 cpu) {
  OpenGroup group{plan, cpu, {}};
  int error = ENOENT;
  for (size_t i = 0; i < plan_[plan].events.size(); ++i) {
    perf_event_attr attributes = plan_[plan].events[i].attributes;
    attributes.size = sizeof attributes;
    attributes.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    const int fd = system_.open(attributes, cpu, group.events.empty() ? -1 : group.events.front().file.fd);
    if (fd >= 0) {
      group.events.push_back({i, Descriptor(fd)});
      continue;
    }
    error = -fd;
    if (is_missing(error)) continue;
    group.events.clear();  // what fails for another reason than the event fails for the processor
    break;
  }
  if (group.events.empty()) {
    if (states_[plan].error == 0) states_[plan].error = error;
    return;
  }
  if (cpu >= static_cast<i64>(totals_.size())) totals_.resize(static_cast<size_t>(cpu) + 1);
  open_.push_back(std::move(group));
}

void PmuCounters::count_open() {
  for (size_t i = 0; i < plan_.size(); ++i) {
    states_[i].opened = 0;
    states_[i].events_opened.assign(plan_[i].events.size(), 0);
  }
  for (const OpenGroup& group : open_) {
    if (group.is_dead) continue;
    ++states_[group.plan].opened;
    for (const OpenEvent& event : group.events) ++states_[group.plan].events_opened[event.event];
  }
}

void PmuCounters::read() {
  for (GroupState& state : states_) state.enabled = state.running = 0;
  for (OpenGroup& group : open_) {
    if (!group.is_dead) read_group(group);
  }
  const size_t open = open_.size();
  // Opened anew by the next follow().
  std::erase_if(open_, [](const OpenGroup& group) { return group.is_dead; });
  if (open_.size() != open) count_open();
  running_ratio_.reset();
  for (size_t i = 0; i < plan_.size(); ++i) {
    const GroupState& state = states_[i];
    if (plan_[i].is_software || state.enabled == 0) continue;
    const double ratio =
        std::min(1.0, static_cast<double>(state.running) / static_cast<double>(state.enabled));
    running_ratio_ = std::min(ratio, running_ratio_.value_or(1));
  }
}

void PmuCounters::read_group(OpenGroup& group) {
  std::array<u64, kHead + kMostEvents> buffer{};
  const std::span<u64> into(buffer.data(), kHead + group.events.size());
  const ssize_t n = system_.read(group.events.front().file.fd, into);
  const u64 enabled = buffer[1], running = buffer[2];
  // The time goes on while the processor is online; a group whose time stands has lost its processor.
  group.is_dead = n != static_cast<ssize_t>(into.size_bytes()) || buffer[0] != group.events.size() ||
                  enabled <= group.enabled || running < group.base_running;
  for (size_t i = 0; i < group.events.size(); ++i)
    group.is_dead = group.is_dead || buffer[kHead + i] < group.events[i].base;
  if (group.is_dead) return;

  GroupState& state = states_[group.plan];
  const u64 run = running - group.base_running;
  state.enabled += enabled - group.enabled;
  state.running += run;
  group.enabled = enabled;
  if (run == 0) return;
  Totals step{};
  for (size_t i = 0; i < group.events.size(); ++i) {
    OpenEvent& event = group.events[i];
    const i64 count = scaled(buffer[kHead + i] - event.base, enabled - group.base_enabled, run);
    event.base = buffer[kHead + i];
    state.has_run[event.event] = true;
    for (const PmuTerm& term : plan_[group.plan].events[event.event].terms) {
      i64& value = step[static_cast<size_t>(term.column)];
      if (term.weight != 0) value = add_saturated(value, times(term.weight, count));
    }
  }
  Totals& totals = totals_[static_cast<size_t>(group.cpu)];
  // Differences of events may be a little below 0, which is not to take back what was counted.
  for (size_t i = 0; i < kPmuColumns; ++i) totals[i] = add_saturated(totals[i], std::max<i64>(0, step[i]));
  group.base_enabled = enabled;
  group.base_running = running;
}

bool PmuCounters::is_told(PmuColumn column) const {
  bool has_any = false;
  for (size_t i = 0; i < plan_.size(); ++i) {
    for (size_t j = 0; j < plan_[i].events.size(); ++j) {
      for (const PmuTerm& term : plan_[i].events[j].terms) {
        if (term.weight == 0 || term.column != column) continue;
        if (!states_[i].has_run[j]) return false;
        has_any = true;
      }
    }
  }
  return has_any;
}

std::optional<i64> PmuCounters::total(PmuColumn column) const {
  if (!is_told(column)) return std::nullopt;
  i64 sum = 0;
  for (const Totals& totals : totals_) sum = add_saturated(sum, totals[static_cast<size_t>(column)]);
  return sum;
}

std::optional<i64> PmuCounters::total(PmuColumn column, i64 cpu) const {
  if (!is_told(column) || cpu < 0 || cpu >= static_cast<i64>(totals_.size())) return std::nullopt;
  return totals_[static_cast<size_t>(cpu)][static_cast<size_t>(column)];
}

bool PmuCounters::has_hardware() const {
  for (size_t i = 0; i < plan_.size(); ++i)
    if (!plan_[i].is_software && states_[i].opened > 0) return true;
  return false;
}

bool PmuCounters::has_software() const {
  for (size_t i = 0; i < plan_.size(); ++i)
    if (plan_[i].is_software && states_[i].opened > 0) return true;
  return false;
}

int PmuCounters::first_error() const {
  for (const GroupState& state : states_)
    if (state.opened == 0 && state.error != 0) return state.error;
  return 0;
}

bool PmuCounters::is_partial() const {
  return std::ranges::any_of(states_, [](const GroupState& state) {
    if (state.opened == 0) return false;
    return state.opened < state.wanted ||
           std::ranges::any_of(
               state.events_opened, [&](size_t opened) { return opened > 0 && opened < state.opened; });
  });
}

}  // namespace spotter::collect
