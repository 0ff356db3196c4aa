// GpuEvents: what happens to GPUs, collected during one sample and then handed over as a table. One thread.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collect/gpu/gpu_tables.h"
#include "collect/process/identities.h"

namespace spotter::collect {

struct GpuEvent {
  const char* event = "";  // a word of the column
  i64 gpu = 0;
  std::string uuid = {};
  Who owner = {};
  std::optional<i64> instance = {}, xid = {}, count = {};
  std::string_view severity = {}, meaning = {};  // for ever
};

class GpuEvents {
 public:
  void add(GpuEvent event) { events_.push_back(std::move(event)); }
  bool empty() const { return events_.empty(); }
  // The events since the last call, all of that time.
  Table take(Ns unix_ns);

 private:
  std::vector<GpuEvent> events_;
};

// Has a table of `all` GPUs say that some of them do not answer (kDoesNotAnswer).
void note_lost_gpus(Table& table, i64 lost, size_t all);

// Errors of a GPU's memory. What a device counts beyond the sample before makes an event.
class MemoryErrors {
 public:
  enum Kind : size_t { corrected, uncorrected, rows_remapped, pages_retired, kKinds };
  using Counts = std::array<std::optional<i64>, kKinds>;

  // Of what is not told before, or now, or is less than before, there is no event.
  void compare(const Counts& now, const GpuEvent& about, GpuEvents& events);

 private:
  Counts last_{};
};

}  // namespace spotter::collect
