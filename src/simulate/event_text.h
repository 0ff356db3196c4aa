// The parts of an event's text that are the same each time, made once per rank.
#pragma once
#include "simulate/rank_place.h"

namespace spotter::simulate {

class EventText {
 public:
  EventText(const Job& job, const RankPlace& place)
      : job_(job), program_(job.program(place.rank)), place_(place) {}

  // From the brace to the value of "ts".
  std::string head(Cat cat, std::string_view name, i64 pid, const std::string& tid) const;
  std::string device_head(const DeviceWork& work, Stream stream) const;
  std::string host_head(Cat cat, std::string_view name, u32 thread) const;
  std::string track(Stream stream) const;  // "tid" of a stream

  std::string device_tail(const DeviceWork& work) const;  // shape of the launch
  std::string collective_args(const Collective& c, bool is_kernel) const;
  std::string span_args(const Span& span) const;

 private:
  const Job& job_;
  const Program& program_;
  const RankPlace& place_;
};

}  // namespace spotter::simulate
