#include "trace/device_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/result.h"
#include "trace/links.h"
#include "trace/sort_runs.h"

namespace spotter::trace {
namespace {

// Where an id is text without a number, the text tells one from another.
struct StreamKey {
  i64 device, stream;
  StringId device_text, stream_text;
  auto operator<=>(const StreamKey&) const = default;
};

StreamKey stream_key(const Trace& trace, EventId e) {
  const Track& track = trace.tracks()[trace.track[e]];
  const std::optional<i64> device = trace.integer(e, Arg::device), stream = trace.integer(e, Arg::stream);
  return {device.value_or(track.pid), stream.value_or(track.tid), device ? 0 : track.pid_text,
          stream ? 0 : track.tid_text};
}

// Each stream's number by first arrival. Neighbouring rows mostly share their stream.
class StreamNumbers {
 public:
  u32 of(const StreamKey& key) {
    if (numbers_.empty() || key != last_key_) {
      last_key_ = key;
      last_ = numbers_.try_emplace(key, static_cast<u32>(numbers_.size())).first->second;
    }
    return last_;
  }
  const std::map<StreamKey, u32>& all() const { return numbers_; }

 private:
  std::map<StreamKey, u32> numbers_;
  StreamKey last_key_ = {};
  u32 last_ = 0;
};

// classify() by distinct name: a trace has millions of rows, but few names.
class KindByName {
 public:
  explicit KindByName(const Trace& trace) : trace_(trace), known_(trace.strings().size() * 2, kUnknown) {}

  WorkKind of(EventId e) {
    const Category category = trace_.category(e);
    if (!trace_.text(e, Arg::collective_name).value_or("").empty())
      return classify(category, trace_.name_of(e), true);
    if (category != Category::kernel && category != Category::mtia_device)
      return classify(category, {}, false);
    u8& known = known_[trace_.name[e] * size_t{2} + (category == Category::mtia_device)];
    if (known == kUnknown) known = static_cast<u8>(classify(category, trace_.name_of(e), false));
    return static_cast<WorkKind>(known);
  }

 private:
  static constexpr u8 kUnknown = 0xff;
  const Trace& trace_;
  std::vector<u8> known_;  // [name][on MTIA] -> WorkKind
};

void infer_launch_times(const Trace& trace, DeviceWork& work) {
  work.launched.resize(work.event.size());
  for (const Stream& stream : work.streams) {
    std::optional<Ns> earliest;  // launch of the rows so far, the last row first
    for (u32 row = stream.end; row-- > stream.begin;) {
      if (const EventId launch = work.launch[row]; launch != kNone) {
        work.launched[row] = trace.ts[launch];
        earliest = std::min(earliest.value_or(trace.ts[launch]), trace.ts[launch]);
        continue;
      }
      work.launched[row] = std::min(work.start[row], earliest.value_or(work.start[row]));
      if (work.launched[row] < work.start[row]) ++work.inferred_launches;
    }
  }
}

}  // namespace

DeviceWork compute_device_work(const Trace& trace) {
  CHECK(trace.loaded().has(Arg::collective_name));
  const LaunchLinks& links = trace.links();
  const size_t n = links.device.size();

  StreamNumbers numbers;
  std::vector<u32> number(n);  // of each row's stream
  for (size_t i = 0; i < n; ++i) number[i] = numbers.of(stream_key(trace, links.device[i]));

  DeviceWork work;
  std::vector<u32> size(numbers.all().size()), next(numbers.all().size());
  for (const u32 s : number) ++size[s];
  u32 begin = 0;
  for (const auto& [key, s] : numbers.all()) {
    next[s] = begin;
    work.streams.push_back({key.device, key.stream, begin, begin + size[s]});
    begin += size[s];
  }

  // Indices into `links`, by stream, then by row; after the sort by time within each stream.
  std::vector<u32> order(n), spare;
  for (u32 i = 0; i < n; ++i) order[next[number[i]]++] = i;
  const auto earlier = [&](u32 a, u32 b) {
    const EventId ea = links.device[a], eb = links.device[b];
    return trace.ts[ea] != trace.ts[eb] ? trace.ts[ea] < trace.ts[eb] : trace.dur[ea] < trace.dur[eb];
  };
  for (const Stream& s : work.streams)
    sort_runs(std::span(order).subspan(s.begin, s.end - s.begin), spare, earlier);

  KindByName kinds(trace);
  for (auto* column : {&work.event, &work.launch}) column->reserve(n);
  for (auto* column : {&work.start, &work.end}) column->reserve(n);
  work.kind.reserve(n);
  for (const u32 i : order) {
    const EventId e = links.device[i];
    work.event.push_back(e);
    work.launch.push_back(links.launch[i]);
    work.kind.push_back(kinds.of(e));
    work.start.push_back(trace.ts[e]);
    work.end.push_back(trace.end(e));
  }
  infer_launch_times(trace, work);
  return work;
}

}  // namespace spotter::trace

namespace spotter {

const trace::DeviceWork& Trace::device_work() const {
  return device_work_.get([this] { return trace::compute_device_work(*this); });
}

}  // namespace spotter
