#include "analyze/critical_path/dependencies.h"

#include <algorithm>
#include <limits>

#include "analyze/launches/launch_queue.h"
#include "trace/nesting.h"
#include "trace/per_kind.h"

namespace spotter::analyze {

namespace {

constexpr Ns kNever = std::numeric_limits<Ns>::max();
// How many rows back one is looked for that had ended: rows of a stream overlap in graphs only, and little.
constexpr u32 kLookBack = 16;

// Work that waits for another stream begins this soon after that one's work ends: 2 to 5 us on CUDA, 10 to 15
// on ROCm.
constexpr Ns kReaction = 20'000;

// 0 where there are none. Reorders them.
Ns lower_quartile(std::vector<Ns>& times) {
  if (times.empty()) return 0;
  const auto quartile = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
  std::ranges::nth_element(times, quartile);
  return *quartile;
}

bool waits_for_device(std::string_view call) {
  if (call.find("Synchronize") != std::string_view::npos) return true;
  return call == "cudaFree" || call == "hipFree" || call == "cuMemFree_v2";
}

// Of whether an event has come: CUPTI records that as a wait for it, too.
bool only_asks(std::string_view call) { return call.find("Query") != std::string_view::npos; }

bool makes_stream_wait(std::string_view call) {
  return call.ends_with("StreamWaitEvent") || call.find("StreamWaitEvent_") != std::string_view::npos;
}

}  // namespace

Dependencies::Dependencies(const Trace& trace) : trace_(trace), work_(trace.device_work()) {
  index_rows();
  classify_calls();
  waits_.resize(work_.streams.size());
  read_records();
  if (std::ranges::all_of(waits_, &std::vector<Wait>::empty)) read_wait_calls();
  usual_launch_time_ = idle_launch_time();
  usual_gap_ = back_to_back_gap();
}

void Dependencies::index_rows() {
  const size_t n = work_.event.size();
  stream_of_.resize(n);
  latest_end_.resize(n);
  latest_launch_.resize(n);
  earliest_launch_.resize(n);
  for (size_t s = 0; s < work_.streams.size(); ++s) {
    const trace::Stream& stream = work_.streams[s];
    for (u32 row = stream.begin; row < stream.end; ++row) {
      const bool is_first = row == stream.begin;
      stream_of_[row] = s;
      latest_end_[row] = is_first ? work_.end[row] : std::max(latest_end_[row - 1], work_.end[row]);
      // Of those without a known launch it is that of the row before them.
      const Ns before = is_first ? -kNever : latest_launch_[row - 1];
      latest_launch_[row] = work_.launch[row] == kNone ? before : std::max(before, launched(row));
    }
    for (u32 row = stream.end; row-- > stream.begin;)
      earliest_launch_[row] =
          row + 1 == stream.end ? launched(row) : std::min(earliest_launch_[row + 1], launched(row));
  }
}

// Records carry the correlation of the call that made the stream or the host wait, and that of the call that
// recorded the event.
void Dependencies::read_records() {
  const auto is_record =
      trace::per_kind(trace_, [](const Kind& k) { return k.category == Category::device_sync; });
  const auto is_call =
      trace::per_kind(trace_, [](const Kind& k) { return k.is_span && is_host_call(k.category); });
  std::vector<EventId> records;
  for (EventId e = 0; e < trace_.size(); ++e)
    if (is_record[trace_.kind[e]]) records.push_back(e);
  if (records.empty()) return;
  std::unordered_map<i64, EventId> calls;
  for (EventId e = 0; e < trace_.size(); ++e)
    if (is_call[trace_.kind[e]])
      if (const auto correlation = trace_.integer(e, Arg::correlation)) calls.emplace(*correlation, e);

  for (const EventId e : records) {
    const auto correlation = trace_.integer(e, Arg::correlation);
    const auto call = correlation ? calls.find(*correlation) : calls.end();
    if (call == calls.end() || only_asks(trace_.name_of(call->second))) continue;
    const Ns time = trace_.ts[call->second];
    const i64 device = trace_.integer(e, Arg::device).value_or(0);
    const auto recorded = calls.find(trace_.integer(e, Arg::wait_on_event_corr).value_or(-1));
    const Awaited awaited = {find_stream(device, trace_.integer(e, Arg::wait_on_stream).value_or(-1)),
                             recorded == calls.end() ? time : trace_.ts[recorded->second]};
    const std::string_view name = trace_.name_of(e);
    const size_t stream = find_stream(device, trace_.integer(e, Arg::stream).value_or(-1));
    if (name == "Stream Wait Event" && stream != kAll && awaited.stream != kAll)
      waits_[stream].push_back({time, awaited});
    else if (name == "Event Sync")
      syncs_.emplace(*correlation, awaited);
    else if (name == "Stream Sync" && stream != kAll)
      syncs_.emplace(*correlation, Awaited{stream, time});
  }
  for (std::vector<Wait>& waits : waits_)
    std::ranges::sort(waits, {}, [](const Wait& w) { return std::pair(w.time, w.awaited.recorded); });
}

void Dependencies::classify_calls() {
  const auto is_call =
      trace::per_kind(trace_, [](const Kind& k) { return k.is_span && is_host_call(k.category); });
  call_kinds_.resize(trace_.strings().size());
  for (EventId e = 0; e < trace_.size(); ++e) {
    if (!is_call[trace_.kind[e]] || call_kinds_[trace_.name[e]] != Call::unknown) continue;
    const std::string_view name = trace_.name_of(e);
    call_kinds_[trace_.name[e]] = waits_for_device(name)    ? Call::waits
                                  : makes_stream_wait(name) ? Call::makes_stream_wait
                                                            : Call::other;
  }
}

void Dependencies::read_wait_calls() {
  for (const trace::Nesting::Thread& thread : trace_.nesting().threads)
    for (u32 i = thread.begin; i < thread.end; ++i) {
      const EventId e = trace_.nesting().order[i];
      if (is_host_call(trace_.category(e)) && call_kinds_[trace_.name[e]] == Call::makes_stream_wait)
        wait_calls_[thread.track].push_back(trace_.ts[e]);
    }
}

Ns Dependencies::idle_launch_time() const {
  std::vector<Ns> delays;
  for (u32 row = 0; row < work_.event.size(); ++row) {
    if (work_.launch[row] == kNone || work_.start[row] < launched(row)) continue;
    const bool is_first = row == work_.streams[stream_of_[row]].begin;
    if (is_first || latest_end_[row - 1] <= launched(row)) delays.push_back(work_.start[row] - launched(row));
  }
  return std::min(lower_quartile(delays), kReaction);
}

Ns Dependencies::back_to_back_gap() const {
  std::vector<Ns> gaps;
  for (u32 row = 1; row < work_.event.size(); ++row) {
    if (stream_of_[row] != stream_of_[row - 1]) continue;
    const Ns gap = work_.start[row] - latest_end_[row - 1];
    if (gap >= 0 && launched(row) + usual_launch_time_ <= latest_end_[row - 1]) gaps.push_back(gap);
  }
  return std::min(lower_quartile(gaps), kReaction);
}

size_t Dependencies::find_stream(i64 device, i64 stream) const {
  const auto key = [](const trace::Stream& s) { return std::pair(s.device, s.stream); };
  const auto found = std::ranges::lower_bound(work_.streams, std::pair(device, stream), {}, key);
  if (found == work_.streams.end() || key(*found) != std::pair(device, stream)) return kAll;
  return static_cast<size_t>(found - work_.streams.begin());
}

u32 Dependencies::first_ending_after(size_t stream, Ns time) const {
  const trace::Stream& s = work_.streams[stream];
  const auto begin = latest_end_.begin() + s.begin, end = latest_end_.begin() + s.end;
  return static_cast<u32>(std::upper_bound(begin, end, time) - latest_end_.begin());
}

u32 Dependencies::first_not_launched_before(size_t stream, Ns time) const {
  const trace::Stream& s = work_.streams[stream];
  const auto begin = earliest_launch_.begin() + s.begin, end = earliest_launch_.begin() + s.end;
  return static_cast<u32>(std::lower_bound(begin, end, time) - earliest_launch_.begin());
}

u32 Dependencies::before(u32 row) const {
  const u32 begin = work_.streams[stream_of_[row]].begin;
  u32 best = kNone;
  for (u32 r = row; r > begin && row - r < kLookBack;) {
    --r;
    if (work_.end[r] > work_.start[row]) continue;
    if (best == kNone || work_.end[r] > work_.end[best]) best = r;
    if (latest_end_[r] <= work_.end[best]) break;
  }
  return best;
}

// Streams run in order, so that the last row that was launched by then and the last one that had ended by
// then bound each other.
u32 Dependencies::last_done(size_t stream, Ns launched_by, Ns ended_by) const {
  const u32 begin = work_.streams[stream].begin, end = work_.streams[stream].end;
  const auto last = [&](const std::vector<Ns>& latest, Ns time) {
    return static_cast<u32>(std::upper_bound(latest.begin() + begin, latest.begin() + end, time) -
                            latest.begin());
  };
  const u32 after = std::min(last(latest_launch_, launched_by), last(latest_end_, ended_by));
  return after == begin ? kNone : after - 1;
}

u32 Dependencies::last_done_of(Awaited awaited, size_t but_stream, Ns ended_by) const {
  u32 best = kNone;
  const auto look = [&](size_t s) {
    if (s == but_stream) return;
    const u32 row = last_done(s, awaited.recorded, ended_by);
    if (row != kNone && (best == kNone || work_.end[row] > work_.end[best])) best = row;
  };
  if (awaited.stream != kAll) {
    look(awaited.stream);
  } else {
    for (size_t s = 0; s < work_.streams.size(); ++s) look(s);
  }
  return best;
}

// Without a known launch it waits for nothing anew that the row before it waited for already: else the waits
// of a stream without launches would be those of each of its rows.
Dependencies::Between Dependencies::when_waits_were_made(u32 row) const {
  const trace::Stream& stream = work_.streams[stream_of_[row]];
  Between between = {row == stream.begin ? -kNever : latest_launch_[row - 1], launched(row)};
  if (work_.launch[row] != kNone) return between;
  if (row > stream.begin && work_.launch[row - 1] == kNone)
    between.since = std::max(between.since, work_.start[row - 1]);
  return between;
}

void Dependencies::awaited_by_row(u32 row, std::vector<u32>& rows) const {
  const size_t stream = stream_of_[row];
  const auto [since, until] = when_waits_were_made(row);
  const auto add = [&](Awaited awaited) {
    const u32 source = last_done_of(awaited, stream, work_.start[row]);
    if (source != kNone) rows.push_back(source);
  };
  const std::vector<Wait>& waits = waits_[stream];
  auto wait = std::ranges::upper_bound(waits, since, {}, &Wait::time);
  for (; wait != waits.end() && wait->time <= until; ++wait) add(wait->awaited);

  const auto calls =
      work_.launch[row] == kNone ? wait_calls_.end() : wait_calls_.find(trace_.track[work_.launch[row]]);
  if (calls != wait_calls_.end()) {
    // The last of several: it waits for all that the ones before it wait for.
    const auto after = std::ranges::upper_bound(calls->second, until);
    if (after != calls->second.begin() && *(after - 1) > since) add({kAll, *(after - 1)});
  }
  add_sudden(row, rows);
}

void Dependencies::add_sudden(u32 row, std::vector<u32>& rows) const {
  const u32 earlier = before(row);
  Ns explained =
      std::max(launched(row) + usual_launch_time_, earlier == kNone ? -kNever : work_.end[earlier]);
  for (const u32 awaited : rows) explained = std::max(explained, work_.end[awaited]);
  if (work_.start[row] - explained <= kReaction) return;
  const u32 source = last_done_of({kAll, launched(row)}, stream_of_[row], work_.start[row]);
  if (source != kNone && work_.start[row] - work_.end[source] <= kReaction) rows.push_back(source);
}

u32 Dependencies::awaited_by_call(EventId call) const {
  const Ns end = trace_.end(call);
  if (!syncs_.empty()) {
    const auto correlation = trace_.integer(call, Arg::correlation);
    const auto sync = correlation ? syncs_.find(*correlation) : syncs_.end();
    if (sync != syncs_.end()) return last_done_of(sync->second, kAll, end);
  }
  if (call_kinds_[trace_.name[call]] != Call::waits) return kNone;
  return last_done_of({kAll, trace_.ts[call]}, kAll, end);
}

u32 Dependencies::room_maker(u32 row) const {
  const u32 begin = work_.streams[stream_of_[row]].begin;
  return row - begin < kQueueLimit ? kNone : row - kQueueLimit;
}

}  // namespace spotter::analyze
