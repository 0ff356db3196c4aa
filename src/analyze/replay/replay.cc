#include "analyze/replay/replay.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "analyze/launches/launch_queue.h"

namespace spotter::analyze {
namespace {

constexpr Ns kNotYet = -kMaxTime;

Ns scaled(Ns time, double factor) {
  // Of work that takes no time no factor is known.
  if (factor == 1 || time == 0 || !(factor >= 0)) return time;
  return static_cast<Ns>(
      std::min(static_cast<double>(time) * factor + 0.5, static_cast<double>(kLongestSpan)));
}

struct Issued {
  u32 row;
  i32 step;
  Ns at;  // when the host issued it
};

struct Stream {
  std::deque<Issued> queue;
  Ns clock = kNotYet;
  u32 call = kNone;  // that it is in
};

// Runs whose launches may be outstanding.
struct Outstanding {
  i64 until;  // launches up to and with this one
  u32 row;
};

struct Rank {
  u32 next = 0;  // row
  i32 step = -1;
  Ns host = 0, awaited = kNotYet;
  u32 awaited_row = kNone;
  std::vector<Stream> streams;
  std::deque<Outstanding> outstanding;
  i64 launches = 0;
  bool is_ready = true, is_done = false;
};

class Player {
 public:
  Player(const JobProgram& job, const Scenario& scenario, Trail* trail)
      : job_(job),
        scenario_(scenario),
        trail_(trail),
        done_(job.rows, kNotYet),
        arrived_(job.calls.size()),
        call_end_(job.calls.size(), kNotYet) {
    result_.step_start.assign(job.steps, kNotYet);
    result_.finish.assign(job.ranks.size(), kNotYet);
    result_.call_start.assign(job.calls.size(), kNotYet);
    if (trail) {
      for (std::vector<Ns>* times : {&trail->came, &trail->went, &trail->free, &trail->start, &trail->end})
        times->assign(job.rows, kNotYet);
      trail->held_by.assign(job.rows, kNone);
    }
    for (const RankProgram& program : job.ranks) {
      Rank rank;
      rank.streams.resize(program.streams);
      rank.host = program.rows().empty() ? 0 : program.at(0);
      ranks_.push_back(std::move(rank));
    }
  }

  Replayed play() && {
    for (u32 r = 0; r < ranks_.size(); ++r) ready_.push_back(r);
    do {
      while (!ready_.empty()) {
        const u32 r = ready_.back();
        ready_.pop_back();
        ranks_[r].is_ready = false;
        run(r);
      }
    } while (force_one());
    for (u32 r = 0; r < ranks_.size(); ++r) give_up(r);
    return std::move(result_);
  }

 private:
  const SkeletonRow& row_of(u32 r, u32 row) const { return job_.ranks[r].rows()[row]; }
  Ns& done(u32 r, u32 row) { return done_[job_.ranks[r].first_row + row]; }
  void set_done(u32 r, u32 row, Ns end) {
    done(r, row) = end;
    if (trail_) trail_->end[global(r, row)] = end;
  }
  size_t global(u32 r, u32 row) const { return job_.ranks[r].first_row + row; }
  double device_factor(u32 r, i32 step) const {
    return step < 0 ? 1 : scenario_.device[job_.ranks[r].first_step + static_cast<u32>(step)];
  }
  double host_factor(u32 r, i32 step) const {
    return step < 0 ? 1 : scenario_.host_factor[job_.ranks[r].first_step + static_cast<u32>(step)];
  }

  void run(u32 r) {
    Rank& rank = ranks_[r];
    settle(r);
    while (rank.next < job_.ranks[r].rows().size()) {
      if (trail_ && trail_->came[global(r, rank.next)] == kNotYet)
        trail_->came[global(r, rank.next)] = rank.host;
      if (!execute(r, rank)) return;
      if (trail_) trail_->went[global(r, rank.next)] = rank.host;
      const double factor = host_factor(r, rank.step);
      rank.host += scaled(scenario_.host[global(r, rank.next)], factor);
      const SkeletonRow& row = row_of(r, rank.next);
      if (row.op == SkeletonOp::compute) rank.host += scaled(row.device, device_factor(r, rank.step));
      ++rank.next;
    }
    if (rank.is_done) return;
    rank.is_done = true;
    finish(r);
  }

  // False: the host has to wait for something that has no time yet.
  bool execute(u32 r, Rank& rank) {
    const SkeletonRow& row = row_of(r, rank.next);
    switch (row.op) {
      case SkeletonOp::step:
        result_.step_start[job_.ranks[r].first_step + static_cast<u32>(++rank.step)] = rank.host;
        return true;
      case SkeletonOp::end:
        if (has_open_work(rank)) return false;
        result_.finish[r] = std::max(rank.host, latest_clock(rank));
        return true;
      case SkeletonOp::run:
        if (!has_room(r, rank, row.count)) return false;
        [[fallthrough]];
      case SkeletonOp::collective:
      case SkeletonOp::wait:
        rank.streams[row.stream].queue.push_back({rank.next, rank.step, rank.host});
        if (rank.streams[row.stream].queue.size() == 1) settle(r);
        return true;
      case SkeletonOp::await:
        if (done(r, row.target) == kNotYet) return false;
        if (done(r, row.target) > rank.awaited) rank.awaited_row = row.target;
        rank.awaited = std::max(rank.awaited, done(r, row.target));
        return true;
      case SkeletonOp::sync:
        if (!scenario_.is_skipped[global(r, rank.next)]) wait_until(r, rank, rank.awaited, rank.awaited_row);
        rank.awaited = kNotYet;
        return true;
      default:
        return true;
    }
  }

  void wait_until(u32 r, Rank& rank, Ns end, u32 of_row) {
    if (end <= rank.host) return;
    rank.host = end;
    if (trail_) trail_->held_by[global(r, rank.next)] = of_row;
  }

  bool has_open_work(const Rank& rank) const {
    return std::ranges::any_of(rank.streams,
                               [](const Stream& s) { return !s.queue.empty() || s.call != kNone; });
  }
  Ns latest_clock(const Rank& rank) const {
    Ns latest = kNotYet;
    for (const Stream& s : rank.streams) latest = std::max(latest, s.clock);
    return latest;
  }

  // The host waits until so many launches have room: those 1,024 before the last of them have begun.
  bool has_room(u32 r, Rank& rank, i64 count) {
    const i64 begun = rank.launches + count - i64{kQueueLimit};
    while (!rank.outstanding.empty() && rank.outstanding.front().until <= begun) {
      const Ns end = done(r, rank.outstanding.front().row);
      if (end == kNotYet) return false;
      wait_until(r, rank, end, rank.outstanding.front().row);
      rank.outstanding.pop_front();
    }
    rank.launches += count;
    rank.outstanding.push_back({rank.launches, rank.next});
    return true;
  }

  // Gives times to all work of a rank that can have one.
  void settle(u32 r) {
    bool goes_on = true;
    while (goes_on) {
      goes_on = false;
      for (u32 s = 0; s < ranks_[r].streams.size(); ++s) goes_on |= settle_stream(r, ranks_[r].streams[s]);
    }
  }

  bool settle_stream(u32 r, Stream& stream) {
    bool any = false;
    if (stream.call != kNone && call_end_[stream.call] != kNotYet) {
      end_call(r, stream);
      any = true;
    }
    while (stream.call == kNone && !stream.queue.empty()) {
      const Issued& item = stream.queue.front();
      const SkeletonRow& row = row_of(r, item.row);
      if (trail_) trail_->free[global(r, item.row)] = stream.clock;
      if (row.op == SkeletonOp::wait) {
        if (!pass_wait(r, item, row, stream)) return any;
        if (trail_) trail_->end[global(r, item.row)] = stream.clock;
      } else if (row.op == SkeletonOp::run) {
        end_run(r, item, row, stream);
      } else {
        begin_call(r, item, row, stream);
        return true;
      }
      any = true;
      stream.queue.pop_front();
    }
    return any;
  }

  bool pass_wait(u32 r, const Issued& item, const SkeletonRow& row, Stream& stream) {
    if (scenario_.is_skipped[global(r, item.row)]) return true;
    const Ns awaited = done(r, row.target);
    if (awaited == kNotYet) return false;
    stream.clock = std::max(stream.clock, awaited);
    return true;
  }

  // A launch that comes to its stream later than the host was done with the run's launches takes its way, or
  // finds its device busy: no launching makes that longer or shorter.
  Ns lead(u32 r, const Issued& item, const SkeletonRow& row, Ns first, Ns lead) const {
    const Ns late = std::max<Ns>(0, first - row.host);
    const double part = row.op == SkeletonOp::run ? double{scenario_.run[global(r, item.row)]} : 1;
    return late + scaled(lead - late, part * scenario_.leads * host_factor(r, item.step));
  }

  void end_run(u32 r, const Issued& item, const SkeletonRow& row, Stream& stream) {
    const double part = scenario_.run[global(r, item.row)];
    const double device = part * device_factor(r, item.step);
    const bool is_gone = scenario_.is_skipped[global(r, item.row)] != 0;
    const Ns gap = is_gone ? 0 : scaled(row.gap, part * scenario_.gaps),
             own = is_gone ? 0 : scaled(row.device, device);
    Ns end = stream.clock == kNotYet ? kNotYet : stream.clock + gap + own;
    // Of what follows a point the gaps are the same part as of the whole run.
    const Ns whole = row.gap + row.device;
    const double rest = whole == 0 ? 1 : static_cast<double>(gap + own) / static_cast<double>(whole);
    const auto hull = job_.ranks[r].hull_of(row);
    for (const HullPoint& point : hull)
      end = std::max(end, item.at + lead(r, item, row, hull[0].lead, point.lead) + scaled(point.rest, rest));
    stream.clock = end == kNotYet ? item.at : end;
    set_done(r, item.row, stream.clock);
  }

  void begin_call(u32 r, const Issued& item, const SkeletonRow& row, Stream& stream) {
    const u32 c = job_.ranks[r].call[item.row];
    Ns start = stream.clock == kNotYet ? kNotYet : stream.clock + row.gap;
    for (const HullPoint& launch : job_.ranks[r].hull_of(row))
      start = std::max(start, item.at + lead(r, item, row, launch.lead, launch.lead));
    if (start == kNotYet) start = item.at;
    if (trail_) trail_->start[global(r, item.row)] = start;
    stream.call = c;
    stream.clock = start;
    const JobCall& call = job_.calls[c];
    Ns& last = result_.call_start[c];
    last = std::max(last, start);
    const bool is_sender =
        call.is_eager && job_.members_of(call)[0].rank == r && job_.members_of(call)[0].row == item.row;
    if (is_sender) {
      stream.clock = start + scenario_sending(c);
      set_done(r, item.row, stream.clock);
      stream.call = kNone;
      stream.queue.pop_front();
    }
    if (++arrived_[c] == call.members) complete(c);
  }

  Ns scenario_sending(u32 c) const {
    const JobCall& call = job_.calls[c];
    return call.transfer == 0 ? call.sending
                              : scaled(call.sending, static_cast<double>(scenario_.transfer[c]) /
                                                         static_cast<double>(call.transfer));
  }

  // When the last of all members has come, those without a file too: after the call before in their group.
  Ns all_have_come(u32 c) const {
    const Ns here = result_.call_start[c];
    const JobCall& call = job_.calls[c];
    if (call.waited == 0 || !scenario_.waits_for_absent) return here;
    const Ns before = call.before == kNone ? kNotYet : call_end_[call.before];
    return before == kNotYet ? here + call.waited : std::max(here, before + call.arrival);
  }

  void complete(u32 c) {
    call_end_[c] = all_have_come(c) + scenario_.transfer[c];
    for (const Member& m : job_.members_of(job_.calls[c])) wake(m.rank);
  }

  void wake(u32 r) {
    if (std::exchange(ranks_[r].is_ready, true)) return;
    ready_.push_back(r);
  }

  void end_call(u32 r, Stream& stream) {
    stream.clock = std::max(stream.clock, call_end_[stream.call]);
    set_done(r, stream.queue.front().row, stream.clock);
    stream.queue.pop_front();
    stream.call = kNone;
  }

  void finish(u32 r) {
    if (result_.finish[r] == kNotYet) result_.finish[r] = std::max(ranks_[r].host, latest_clock(ranks_[r]));
  }

  // A rank that waits for what never comes ends where it is.
  void give_up(u32 r) {
    if (ranks_[r].is_done) return;
    ++result_.forced;
    finish(r);
    const RankProgram& program = job_.ranks[r];
    for (u32 s = 0; s < program.steps(); ++s) {
      Ns& start = result_.step_start[program.first_step + s];
      if (start == kNotYet) start = ranks_[r].host;
    }
  }

  // All wait for each other, as calls that were matched wrongly or ranks without a file can make them: the
  // call that began first ends without its other ranks.
  bool force_one() {
    u32 first = kNone;
    for (const Rank& rank : ranks_)
      for (const Stream& s : rank.streams)
        if (s.call != kNone && call_end_[s.call] == kNotYet &&
            (first == kNone || result_.call_start[s.call] < result_.call_start[first]))
          first = s.call;
    if (first == kNone) return false;
    ++result_.forced;
    complete(first);
    return true;
  }

  const JobProgram& job_;
  const Scenario& scenario_;
  Trail* trail_;
  Replayed result_;
  std::vector<Rank> ranks_;
  std::vector<Ns> done_;      // per row of all ranks
  std::vector<u32> arrived_;  // per call
  std::vector<Ns> call_end_;  // per call
  std::vector<u32> ready_;
};

}  // namespace

Scenario::Scenario(const JobProgram& job)
    : is_skipped(job.rows), run(job.rows, 1.0f), device(job.steps, 1.0), host_factor(job.steps, 1.0) {
  host.reserve(job.rows);
  for (const RankProgram& rank : job.ranks) {
    const bool is_absent = job.is_absent(rank);
    for (const SkeletonRow& row : rank.rows()) host.push_back(is_absent ? 0 : row.host);
    if (is_absent) std::fill_n(device.begin() + rank.first_step, rank.steps(), 0.0);
  }
  for (const JobCall& call : job.calls) transfer.push_back(call.transfer);
}

Ns Replayed::length(const JobProgram& job) const {
  Ns start = kMaxTime, end = kNotYet;
  for (u32 r = 0; r < job.ranks.size(); ++r) {
    if (job.ranks[r].steps() == 0) continue;
    start = std::min(start, step_start[job.ranks[r].first_step]);
    end = std::max(end, finish[r]);
  }
  return std::max<Ns>(0, end - start);
}

Notes replay_notes(const JobProgram& job, const Replayed& played) {
  Notes notes = job.notes;
  if (played.forced > 0)
    notes.add(
        "forced_calls", Severity::loss,
        "collectives or sends were ended without some of their ranks, since the replayed ranks all waited for "
        "each other",
        -1, played.forced);
  return notes;
}

Replayed replay(const JobProgram& job, const Scenario& scenario, Trail* trail) {
  return Player(job, scenario, trail).play();
}

}  // namespace spotter::analyze
