// PmuCounters: opens the groups of a plan on the processors and adds up what they count. One thread.
//
// Where there are more events than counters, the kernel lets the groups take turns. Each interval's count is
// then scaled by the time that its group was enabled over the time that it ran: totals never shrink, and an
// interval's error stays in it. A group that did not run in an interval is scaled when it next did.
#pragma once
#include <optional>
#include <vector>

#include "base/system/descriptor.h"
#include "collect/pmu/perf_system.h"
#include "collect/pmu/pmu_plan.h"

namespace spotter::collect {

class PmuCounters {
 public:
  PmuCounters(PerfSystem system, std::vector<PlannedGroup> groups);

  // Closes the groups of processors that are not online any more, and opens those that are missing.
  void follow(const std::vector<i64>& online);
  // Adds what happened since the last time. Groups that cannot be read any more are closed.
  void read();

  // Since the beginning. Null where no processor ever counted one of the column's events.
  std::optional<i64> total(PmuColumn column) const;
  std::optional<i64> total(PmuColumn column, i64 cpu) const;  // of one processor
  const std::vector<i64>& cpus() const { return online_; }

  bool has_hardware() const;  // some hardware event could be opened
  bool has_software() const;
  int first_error() const;  // errno of the first group that could be opened nowhere; 0: there is none
  // Some processors lack a group, or an event of it, that others have.
  bool is_partial() const;
  size_t left_out() const { return left_out_; }  // groups for which there are too few descriptors
  // The smallest share of the last interval for which a group of hardware events ran; null: there is none.
  std::optional<double> running_ratio() const { return running_ratio_; }
  size_t descriptors() const;

 private:
  struct OpenEvent {
    size_t event;  // of the planned group
    Descriptor file;
    u64 base = 0;  // its count when the group last ran
  };
  struct OpenGroup {
    size_t plan;
    i64 cpu;
    std::vector<OpenEvent> events;           // the first leads the group
    u64 base_enabled = 0, base_running = 0;  // when it last ran
    u64 enabled = 0;                         // at the last read
    bool is_dead = false;
  };
  struct GroupState {
    size_t wanted = 0, opened = 0;      // processors
    int error = 0;                      // of the first that failed
    std::vector<size_t> events_opened;  // by event: processors
    std::vector<bool> has_run;          // by event
    u64 enabled = 0, running = 0;       // in the last interval, all processors
  };
  using Totals = std::array<i64, kPmuColumns>;

  void open_group(size_t plan, i64 cpu);
  void read_group(OpenGroup& group);
  bool is_told(PmuColumn column) const;
  void count_open();

  PerfSystem system_;
  std::vector<PlannedGroup> plan_;
  std::vector<GroupState> states_;  // by group of the plan
  std::vector<OpenGroup> open_;
  std::vector<i64> online_;
  std::vector<Totals> totals_;  // by processor; kept of those that went
  size_t left_out_ = 0;
  std::optional<double> running_ratio_;
};

}  // namespace spotter::collect
