#include "analyze/replay/skeleton_writer.h"

#include <algorithm>

#include "analyze/replay/mix.h"
#include "base/fnv.h"
#include "trace/steps.h"

namespace spotter::analyze {

void SkeletonWriter::advance(Ns time) {
  if (!skeleton_.rows.empty() && time > mark_) skeleton_.rows[tile_].host += time - mark_;
  mark_ = std::max(mark_, time);
}

SkeletonRow& SkeletonWriter::push(Ns at, SkeletonRow row, std::span<const HullPoint> points) {
  advance(at);
  row.at = trace_.info().base_ns + at;
  tile_ = skeleton_.rows.size();
  return skeleton_.add(row, points);
}

void SkeletonWriter::push_step(Ns at, i64 number, Ns work_end) {
  const StringId host = skeleton_.strings.intern(trace_.info().host_name);
  const std::string_view mark = trace_.steps().source == trace::StepSource::optimizer ? kByOptimizer
                                : trace_.steps().steps.empty()                        ? kUnmarked
                                                                                      : std::string_view();
  push(at, {.op = SkeletonOp::step,
            .name = mark.empty() ? StringId{0} : skeleton_.strings.intern(mark),
            .group = host,
            .start = trace_.info().base_ns + at,
            .end = trace_.info().base_ns + std::max(at, work_end),
            .count = trace_.steps().are_iterations ? 1 : 0,
            .number = number});
  places_.clear();
  step_ = at;
}

void SkeletonWriter::push_pause(Cause kind, Ns begin, Ns end, StringId name, EventId last, EventId next) {
  const auto hash = [&](EventId e) { return e == kNone ? 0 : fnv1a(trace_.name_of(e)); };
  const bool is_of_step = last != kNone && trace_.ts[last] >= step_;
  u64 place = mix(mix(static_cast<u64>(kind), is_of_step ? hash(last) : 0), hash(next));
  place = mix(place, places_[place]++);
  push(begin, {.op = SkeletonOp::pause,
               .cause = kind,
               .name = intern(name),
               .count = cover_.covered(begin, end),
               .number = static_cast<i64>(place)});
  advance(end);
}

StringId SkeletonWriter::intern(StringId of_trace) {
  return of_trace == 0 ? 0 : skeleton_.strings.intern(trace_.strings()[of_trace]);
}

}  // namespace spotter::analyze
