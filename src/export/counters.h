// Counter tracks: the tables of analyses as events (ph C) that viewers draw as curves.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "analyze/analysis.h"

namespace spotter::export_ {

struct CounterTrack {
  const Analysis* analysis;  // its keys but rank and device name the track; its role::time column is the time
  const char* column;        // what is drawn
  const char* name;          // of the track
  const char* unit;          // of the values in the file: a ratio is written as percent
};

std::span<const CounterTrack> counter_tracks();

// One event per row of the table, in its order. `process`: the id of a device's process, as JSON. `zero`: the
// Unix time that the file's times count from.
Result<void> write_counters(const CounterTrack& track, const Table& table, Ns zero,
                            const std::function<std::string(i64 device)>& process,
                            const std::function<Result<void>(std::string_view event)>& write);

}  // namespace spotter::export_
