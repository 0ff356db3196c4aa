// libpfm4, which knows the events of processors by name. Opened while events are chosen and closed again,
// since its tables are a megabyte; where it is missing, or does not know this processor, encodings of our own
// serve (pmu_events.h). One thread.
#pragma once
#include <linux/perf_event.h>

#include <optional>
#include <string>

namespace spotter::collect {

class PfmLibrary {
 public:
  PfmLibrary();
  ~PfmLibrary();
  PfmLibrary(const PfmLibrary&) = delete;
  PfmLibrary& operator=(const PfmLibrary&) = delete;

  bool is_open() const { return encode_ != nullptr; }
  // Type and configuration of "spr::LONGEST_LAT_CACHE:MISS"; nothing else is set.
  std::optional<perf_event_attr> encode(const std::string& name) const;

 private:
  void* library_ = nullptr;
  void* encode_ = nullptr;
};

}  // namespace spotter::collect
