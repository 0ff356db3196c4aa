#include "analyze/replay/host_items.h"

#include <algorithm>
#include <tuple>

#include "analyze/operators/threads.h"
#include "analyze/replay/blocked_launches.h"
#include "trace/facts/data_loading.h"
#include "trace/nesting.h"

namespace spotter::analyze {
namespace {

struct Launched {
  EventId call;
  u32 row;
};

bool has_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view p) { return name.find(p) != name.npos; });
}

Cause cause_of_call(std::string_view name) {
  if (has_any(name, {"ModuleLoad", "LibraryLoad", "ModuleGetFunction"})) return Cause::compilation;
  if (has_any(name, {"Async", "Host"})) return Cause::none;
  if (has_any(name, {"cudaMalloc", "cudaFree", "hipMalloc", "hipFree", "cuMemAlloc", "cuMemFree",
                     "cuMemCreate", "cuMemRelease", "cuMemMap", "cuMemUnmap", "cuMemSetAccess"}))
    return Cause::allocation;
  return Cause::none;
}

class Collector {
 public:
  Collector(const Trace& trace, const Dependencies& dependencies)
      : trace_(trace), work_(trace.device_work()), dependencies_(dependencies) {}

  HostItems collect() && {
    add_launches();
    find_tracks();
    add_calls_and_spans();
    add_marks();
    std::ranges::sort(found_.items, {},
                      [](const HostItem& i) { return std::tuple(i.begin, i.kind, i.event, i.first); });
    split_blocked_launches(trace_, found_);
    return std::move(found_);
  }

 private:
  void add_launches() {
    std::vector<Launched> launched, unknown;
    for (u32 row = 0; row < work_.event.size(); ++row)
      (work_.launch[row] == kNone ? unknown : launched).push_back({work_.launch[row], row});
    std::ranges::sort(launched, {},
                      [&](const Launched& l) { return std::tuple(l.call, work_.start[l.row], l.row); });
    std::vector<Ns> durations;
    for (size_t i = 0; i < launched.size();) {
      const EventId call = launched[i].call;
      HostItem item{.begin = trace_.ts[call], .end = trace_.end(call), .event = call, .first = rows()};
      for (; i < launched.size() && launched[i].call == call; ++i) found_.rows.push_back(launched[i].row);
      item.count = rows() - item.first;
      durations.push_back(trace_.dur[call]);
      found_.tracks.push_back(trace_.track[call]);
      found_.items.push_back(item);
    }
    for (const Launched& l : unknown) {
      const Ns at = work_.launched[l.row];
      found_.items.push_back({.begin = at, .end = at, .first = rows(), .count = 1});
      found_.rows.push_back(l.row);
    }
    if (durations.empty()) return;
    const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
    std::ranges::nth_element(durations, middle);
    found_.usual_call = *middle;
  }

  void find_tracks() {
    std::vector<u32>& tracks = found_.tracks;
    tracks.push_back(main_track(trace_));
    std::ranges::sort(tracks);
    tracks.erase(std::unique(tracks.begin(), tracks.end()), tracks.end());
  }

  void add_calls_and_spans() {
    std::vector<Cause> known(trace_.strings().size(), Cause::count_);
    const trace::Nesting& nesting = trace_.nesting();
    for (const trace::Nesting::Thread& thread : nesting.threads) {
      if (!std::ranges::binary_search(found_.tracks, thread.track)) continue;
      Ns covered = -kMaxTime;  // by pauses so far: the outermost counts
      for (u32 i = thread.begin; i < thread.end; ++i) {
        const EventId e = nesting.order[i];
        const Category category = trace_.category(e);
        if (is_host_call(category) && add_sync(e)) continue;
        Cause& cause = known[trace_.name[e]];
        if (cause == Cause::count_) cause = cause_of_span(trace_.name_of(e), category);
        if (cause == Cause::none || trace_.ts[e] < covered || trace_.dur[e] == 0) continue;
        covered = trace_.end(e);
        found_.items.push_back({.kind = HostItem::Kind::pause,
                                .cause = cause,
                                .begin = trace_.ts[e],
                                .end = trace_.end(e),
                                .event = e});
      }
    }
  }

  bool add_sync(EventId call) {
    const u32 row = dependencies_.awaited_by_call(call);
    if (row == kNone) return false;
    found_.items.push_back({.kind = HostItem::Kind::sync,
                            .cause = cause_of_call(trace_.name_of(call)),
                            .begin = trace_.ts[call],
                            .end = trace_.end(call),
                            .event = call,
                            .first = rows(),
                            .count = 1});
    found_.rows.push_back(row);
    return true;
  }

  void add_marks() {
    const std::vector<trace::Step>& steps = trace_.steps().steps;
    for (const trace::Step& step : steps)
      found_.items.push_back(
          {.kind = HostItem::Kind::step, .begin = step.start, .end = step.start, .step = step.number});
    if (found_.items.empty()) return;
    Ns end = std::ranges::max_element(found_.items, {}, &HostItem::end)->end;
    if (steps.empty()) {
      const Ns begin = std::ranges::min_element(found_.items, {}, &HostItem::begin)->begin;
      found_.items.push_back({.kind = HostItem::Kind::step, .begin = begin, .end = begin});
    } else {
      end = std::ranges::max_element(steps, {}, &trace::Step::end)->end;
    }
    found_.items.push_back({.kind = HostItem::Kind::end, .begin = end, .end = end});
  }

  u32 rows() const { return static_cast<u32>(found_.rows.size()); }

  const Trace& trace_;
  const trace::DeviceWork& work_;
  const Dependencies& dependencies_;
  HostItems found_;
};

}  // namespace

Cause cause_of_span(std::string_view name, Category category) {
  if (is_host_call(category)) return cause_of_call(name);
  if (category == Category::cpu_op || category == Category::user_annotation) {
    if (trace::is_data_loading(name)) return Cause::data_loading;
    if (has_any(name, {"(dynamo_timed)", "_compile.compile_inner", "CachingAutotuner.benchmark_all_configs"}))
      return Cause::compilation;
  }
  return Cause::none;
}

HostItems host_items(const Trace& trace, const Dependencies& dependencies) {
  return Collector(trace, dependencies).collect();
}

}  // namespace spotter::analyze
