#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/time/device_gaps.h"
#include "analyze/time/device_time.h"
#include "analyze/time/host_activity.h"
#include "analyze/time/idle_gaps.h"
#include "analyze/top.h"
#include "trace/steps_at.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"idle_category", Type::text, Unit::none, Role::key,
     "Why the gap is there, as device_idle_breakdown tells it."},
    {"name", Type::text, Unit::none, Role::key,
     "Innermost span of the launching thread; empty for none, and others for the rest."},
    {"idle_ns", Type::integer, Unit::ns, Role::value, "Its time in all of them."},
    {"idle_ratio", Type::real, Unit::ratio, Role::value, "The same as a share of all gaps of the rank."},
    {"gap_count", Type::integer, Unit::count, Role::value, "Number of gaps in which it is."},
    {"median_ns", Type::real, Unit::ns, Role::value, "Median of its times per gap."},
    {"max_ns", Type::integer, Unit::ns, Role::value, "The largest of them."},
    {"activity", Type::text, Unit::none, Role::value,
     "What kind of span it is: operator, annotation, python, or call of the device's runtime; launch: from the "
     "launch's call to the work's start; none: no span is there, or the gap waits for no host."},
    {"within", Type::text, Unit::none, Role::value,
     "The span around that, but for a step's mark; empty for none."},
    {"longest_step", Type::integer, Unit::none, Role::value,
     "Number of the step in which that gap begins; null for none."},
    {"longest_start_ns", Type::integer, Unit::ns, Role::time, "Start of that gap, Unix time."},
};

constexpr Param kParams[] = {kConsecutiveKernelDelay, kTop};

enum class Activity : u8 { none, op, annotation, python, call, launch };

std::string_view name_of(Activity activity) {
  constexpr const char* kNames[] = {"none", "operator", "annotation", "python", "call", "launch"};
  return kNames[static_cast<size_t>(activity)];
}

Activity activity_of(Category category) {
  if (category == Category::user_annotation) return Activity::annotation;
  if (category == Category::python_function) return Activity::python;
  return is_host_call(category) ? Activity::call : Activity::op;
}

struct Cause {
  DeviceGapCategory category;
  Activity activity;
  StringId name, within;
  auto operator<=>(const Cause&) const = default;
};

struct Group {
  std::optional<Cause> cause = {};  // none: others
  std::map<u32, Ns> by_gap = {};
  Ns sum = 0;

  void add(u32 gap, Ns ns) {
    by_gap[gap] += ns;
    sum += ns;
  }
  void merge(const Group& other) {
    for (const auto& [gap, ns] : other.by_gap) add(gap, ns);
  }
};

class Causes {
 public:
  Causes(const Trace& trace, const std::vector<DeviceGap>& gaps)
      : trace_(trace), nesting_(trace.nesting()), host_(trace) {
    for (u32 i = 0; i < gaps.size(); ++i) add(i, gaps[i]);
  }

  // Most time first.
  std::vector<Group> groups() && {
    std::vector<Group> all;
    for (auto& [cause, group] : groups_) {
      group.cause = cause;
      all.push_back(std::move(group));
    }
    std::ranges::sort(all, {}, [](const Group& g) { return std::tuple(-g.sum, *g.cause); });
    return all;
  }

 private:
  void add(u32 i, const DeviceGap& gap) {
    if (gap.category != DeviceGapCategory::host_wait) {
      groups_[{gap.category, Activity::none, 0, 0}].add(i, gap.end - gap.start);
      return;
    }
    const Ns launch = std::clamp(trace_.ts[gap.launch], gap.start, gap.end);
    host_.for_each(trace_.track[gap.launch], gap.start, launch,
                   [&](u32 place, Ns ns) { groups_[cause_of(place)].add(i, ns); });
    if (launch < gap.end)
      groups_[{gap.category, Activity::launch, trace_.name[gap.launch], 0}].add(i, gap.end - launch);
  }

  Cause cause_of(u32 place) const {
    if (place == kNone) return {DeviceGapCategory::host_wait, Activity::none, 0, 0};
    const EventId e = nesting_.order[place];
    const u32 around = host_.around(place);
    return {DeviceGapCategory::host_wait, activity_of(trace_.category(e)), trace_.name[e],
            around == kNone ? 0 : trace_.name[nesting_.order[around]]};
  }

  const Trace& trace_;
  const trace::Nesting& nesting_;
  HostActivity host_;
  std::map<Cause, Group> groups_;
};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kIdleCauses.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) {
    note_no_device_work(table);
    return table;
  }
  const std::vector<DeviceGap> gaps = device_gaps(trace, params[kConsecutiveKernelDelay.name]);
  const Ns idle = std::accumulate(gaps.begin(), gaps.end(), Ns{0},
                                  [](Ns sum, const DeviceGap& gap) { return sum + gap.end - gap.start; });
  const trace::StepsAt steps(trace.steps().steps);
  for (const Group& group : first_and_others(Causes(trace, gaps).groups(), params[kTop.name])) {
    std::vector<Ns> times;
    for (const auto& [gap, ns] : group.by_gap) times.push_back(ns);
    const u32 longest =
        std::ranges::max_element(group.by_gap, {}, [](const auto& g) { return g.second; })->first;
    const Statistics s = statistics_of(times);
    const u32 step = steps.last(gaps[longest].start);
    const auto text = [&](auto of) { return group.cause ? of(*group.cause) : std::string_view(); };
    table.append({text([](const Cause& c) { return std::string_view(device_gap_category_name(c.category)); }),
                  group.cause ? trace.strings()[group.cause->name] : "others", s.sum, ratio(s.sum, idle),
                  s.count, s.median, s.max, text([](const Cause& c) { return name_of(c.activity); }),
                  text([&](const Cause& c) { return trace.strings()[c.within]; }),
                  step == kNone ? Value() : Value(trace.steps().steps[step].number),
                  trace.info().base_ns + gaps[longest].start});
  }
  note_inferred_launches(trace, table);
  return table;
}

}  // namespace

const Analysis kIdleCauses = {
    .name = "idle_causes",
    .summary =
        "What the host did while the devices were idle: by operator, annotation, Python function and call.",
    .doc =
        "The gaps of device_idle_breakdown, taken apart. A gap that waits for the host is divided by what the thread that "
        "launches next was in at each moment, from when the devices ran dry to the launch: the innermost operator, "
        "annotation, Python function or call of the device's runtime, and the one around that; marks of steps are looked "
        "through. From the launch's call to the start of the work it is the launch's. Times of a rank add up to its "
        "idle_ns. One row per cause, most time first: its times per gap (one long gap is one gap), and where the longest "
        "is; what is not among the first `top` is in a last row named others. Python functions are there if the profiler recorded stacks (with_stack).",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | trace::kStepArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
