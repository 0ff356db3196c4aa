// Dependencies: what device work, and host calls that wait for it, may have waited for. Told by the trace
// where it has synchronisation records (cuda_sync, cuda_event); else by the calls themselves, as far as the
// times allow.
#pragma once
#include <unordered_map>
#include <vector>

#include "trace/device_work.h"
#include "trace/trace.h"

namespace spotter::analyze {

class Dependencies {
 public:
  // Reads kDependencyArgs.
  explicit Dependencies(const Trace& trace);

  // When a row of DeviceWork was launched, or at the latest.
  Ns launched(u32 row) const { return work_.launched[row]; }

  // The row of its stream after whose end it could start: of the last ones before it that had ended by then
  // the one that ended last. kNone if there is none.
  u32 before(u32 row) const;

  // Rows of other streams that this one had to wait for, since a host call made its stream wait
  // (cudaStreamWaitEvent) after the launch of the stream's row before it: per call the row that ended last of
  // those that were launched until the event was recorded. A call of which the trace does not say for which
  // stream it was, and which event, is taken for the next launch of its thread and for all that was launched
  // on other streams of the device until then.
  // For work that neither these nor its launch nor its stream explain, also work on another stream
  // that ended within 20 us before it, and was launched before it.
  void awaited_by_row(u32 row, std::vector<u32>& rows) const;

  // The row that a host call had to wait for: cudaDeviceSynchronize and its like, and cudaFree. kNone for
  // other calls.
  u32 awaited_by_call(EventId call) const;

  // The row whose start made room in the queue of a stream for the launch of this one; kNone if it
  // is among the first that the queue holds. Whether there was room then, times tell.
  u32 room_maker(u32 row) const;

  // From the start of a launch to that of its work, where the stream was idle: the lower quartile, since some
  // of that work also waits for other streams; at most 20 us, as in some traces all of it does.
  Ns usual_launch_time() const { return usual_launch_time_; }

  // From the end of work to the start of the next on its stream, where that was launched long before: the
  // lower quartile.
  Ns usual_gap() const { return usual_gap_; }

  // Rows that end after `time`, and rows that are launched before it, form these ranges of a stream (perhaps
  // with others).
  u32 first_ending_after(size_t stream, Ns time) const;
  u32 first_not_launched_before(size_t stream, Ns time) const;

 private:
  static constexpr size_t kAll = ~size_t{0};
  struct Awaited {
    size_t stream;  // or kAll
    Ns recorded;    // what was launched until then
  };
  struct Wait {
    Ns time;
    Awaited awaited;
  };

  struct Between {
    Ns since, until;  // (since, until]
  };

  void index_rows();
  void read_records();
  void classify_calls();
  void read_wait_calls();
  Ns idle_launch_time() const;
  Ns back_to_back_gap() const;
  Between when_waits_were_made(u32 row) const;
  size_t find_stream(i64 device, i64 stream) const;
  u32 last_done(size_t stream, Ns launched_by, Ns ended_by) const;
  void add_sudden(u32 row, std::vector<u32>& rows) const;
  u32 last_done_of(Awaited awaited, size_t but_stream, Ns ended) const;

  const Trace& trace_;
  const trace::DeviceWork& work_;
  enum class Call : u8 { unknown, other, waits, makes_stream_wait };
  std::vector<Call> call_kinds_;          // per name of a host call
  std::vector<size_t> stream_of_;         // per row
  std::vector<Ns> latest_end_;            // per row: of it and those before it on its stream
  std::vector<Ns> latest_launch_;         // the same
  std::vector<Ns> earliest_launch_;       // per row: of it and those after it on its stream
  std::vector<std::vector<Wait>> waits_;  // per stream, by time
  std::unordered_map<u32, std::vector<Ns>>
      wait_calls_;                          // per thread (track), by time, where there are no records
  std::unordered_map<i64, Awaited> syncs_;  // by correlation of the host call
  Ns usual_launch_time_ = 0, usual_gap_ = 0;
};

inline const ArgSet kDependencyArgs =
    trace::kDeviceWorkArgs | ArgSet{Arg::wait_on_stream, Arg::wait_on_event_corr};

}  // namespace spotter::analyze
