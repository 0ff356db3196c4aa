#include "analyze/tb_plugin/steps.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace spotter::analyze::tb_plugin {
namespace {

constexpr Us kNever = std::numeric_limits<Us>::infinity();
constexpr double kLeastOfTheStepBefore = 0.8;

// What a step's calls of the runtime launched.
struct Launched {
  Us start = kNever, end = -kNever;
  i64 count = 0;
};

std::vector<StepTime> marks_of(const Trace& trace, const Events& events) {
  std::vector<StepTime> marks;
  UsInterval host = {kNever, -kNever};
  for (const Event& event : events.all) {
    if (event.type == EventType::step) marks.push_back({step_number(trace.name_of(event.id)), event.time});
    if (event.type != EventType::step && event.type != EventType::op && event.type != EventType::python)
      continue;
    host = {std::min(host.start, event.time.start), std::max(host.end, event.time.end)};
  }
  if (marks.empty() && host.start <= host.end) marks.push_back({0, host});
  return marks;
}

class Windows {
 public:
  Windows(const Events& events, const Launches& launches, std::vector<StepTime> steps)
      : events_(events), launches_(launches), steps_(std::move(steps)), launched_(steps_.size()) {}

  std::vector<StepTime> find() {
    if (steps_.empty()) return {};
    gather();
    const auto launches = [](const Launched& l) { return l.count > 0; };
    if (std::ranges::none_of(launched_, launches)) return std::move(steps_);
    extend();
    if (steps_.size() > 1) cut();
    return std::move(steps_);
  }

 private:
  // One walk along both: a call that begins before the current step, or that ends behind it, is of none.
  void gather() {
    is_of_step_.resize(events_.all.size());
    size_t step = 0;
    for (const Launch& launch : launches_.all) {
      if (launch.event == kNone) continue;
      const UsInterval& call = events_.all[launch.event].time;
      while (step < steps_.size() && call.start >= steps_[step].time.start &&
             call.end > steps_[step].time.end && call.start >= steps_[step].time.end)
        ++step;
      if (step == steps_.size()) return;
      if (call.start < steps_[step].time.start || call.end > steps_[step].time.end) continue;
      Launched& launched = launched_[step];
      for (const u32 i : launch.work) {
        launched.start = std::min(launched.start, events_.all[i].time.start);
        launched.end = std::max(launched.end, events_.all[i].time.end);
        ++launched.count;
        is_of_step_[i] = true;
      }
    }
  }

  // The end of the device work that no step launched, before the first one's own.
  Us end_before_first() const {
    Us end = steps_.front().time.start;
    if (launched_.front().count == 0) return end;
    for (u32 i = 0; i < events_.all.size(); ++i) {
      const Event& event = events_.all[i];
      if (is_device_work(event.type) && !is_of_step_[i] && event.time.end < launched_.front().start)
        end = std::max(end, event.time.end);
    }
    return end;
  }

  void extend() {
    Us end = end_before_first();
    for (size_t s = 0; s < steps_.size(); ++s) {
      UsInterval& time = steps_[s].time;
      time.start = std::max(time.start, end);
      time.end = std::max(std::max(time.end, launched_[s].end), time.start);
      end = time.end;
    }
  }

  void cut() {
    size_t last = steps_.size() - 1;
    while (launched_[last].count == 0) --last;
    const bool is_cut_off =
        last > 0 && static_cast<double>(launched_[last].count) <
                        kLeastOfTheStepBefore * static_cast<double>(launched_[last - 1].count);
    steps_.resize(is_cut_off ? last : last + 1);
  }

  const Events& events_;
  const Launches& launches_;
  std::vector<StepTime> steps_;
  std::vector<Launched> launched_;
  std::vector<u8> is_of_step_;  // per event
};

std::optional<Part> part_of(const Trace& trace, const Event& event, const Communication& communication) {
  const std::string_view name = trace.name_of(event.id);
  switch (event.type) {
    case EventType::kernel:
      return communication.has(external_id(trace, event.id)) ? kCommunication : kKernel;
    case EventType::copy:
      return kCopy;
    case EventType::set:
      return kSet;
    case EventType::runtime:
      return kRuntime;
    case EventType::op:
    case EventType::annotation:
      if (is_data_loader(name)) return kDataLoader;
      [[fallthrough]];
    case EventType::python:
      return is_collective(name) ? kCommunication : kHost;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::vector<StepTime> steps_of(const Trace& trace, const Events& events, const Launches& launches) {
  return Windows(events, launches, marks_of(trace, events)).find();
}

std::array<UsIntervals, kParts> times_by_part(const Trace& trace, const Events& events,
                                              const Communication& communication) {
  std::array<UsIntervals, kParts> times;
  for (const Event& event : events.all)
    if (const auto part = part_of(trace, event, communication)) times[*part].push_back(event.time);
  for (UsIntervals& of_part : times) of_part = merged(std::move(of_part));
  return times;
}

}  // namespace spotter::analyze::tb_plugin
