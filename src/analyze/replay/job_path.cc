#include "analyze/replay/job_path.h"

#include <algorithm>
#include <utility>

#include "analyze/list.h"
#include "analyze/replay/skeleton_builder.h"
#include "analyze/replay/skeleton_table.h"

namespace spotter::analyze {
namespace {

constexpr Ns kNever = -kMaxTime;

// A row's end on its stream, a call's start on one rank, or when the host went on from a row.
struct Point {
  enum class Of : u8 { stream, call, host } of;
  u32 rank, row;
};

bool is_on_stream(const SkeletonRow& row) {
  return row.op == SkeletonOp::run || row.op == SkeletonOp::collective || row.op == SkeletonOp::wait;
}

// Goes back from a point to the one that it waited for, with what is between them as a piece.
class Walk {
 public:
  explicit Walk(const JobProgram& job) : job_(job), played_(replay(job, Scenario(job), &trail_)) {
    for (const RankProgram& rank : job.ranks) {
      std::vector<u32> last(rank.streams, kNone);
      for (u32 i = 0; i < rank.rows().size(); ++i) {
        const SkeletonRow& row = rank.rows()[i];
        before_.push_back(is_on_stream(row) ? std::exchange(last[row.stream], i) : kNone);
      }
    }
  }

  JobPath path() && {
    JobPath path{.steps = replayed_steps(job_, played_), .pieces = {}};
    if (path.steps.empty()) return path;
    at_ = path.steps.back().end;
    std::optional<Point> point = end();
    // Each row is passed a few times at most, but where calls were ended by force.
    for (u64 left = 8 * u64{job_.rows} + 8; point && left > 0 && at_ > path.steps.front().start; --left)
      point = back(*point);
    if (!pieces_.empty()) add(pieces_.back().rank, PathKind::start, path.steps.front().start);
    std::ranges::reverse(pieces_);
    cut(path);
    return path;
  }

 private:
  const SkeletonRow& row(const Point& p) const { return job_.ranks[p.rank].rows()[p.row]; }
  size_t global(const Point& p) const { return job_.ranks[p.rank].first_row + p.row; }
  std::string_view text(u32 rank, StringId id) const { return job_.ranks[rank].skeleton.strings[id]; }

  // A piece from `from` to where the path has come.
  void add(u32 rank, PathKind kind, Ns from, std::string_view name = {}, std::string_view group = {}) {
    if (from >= at_) return;
    pieces_.push_back({0, rank, kind, name, group, from, at_ - from});
    at_ = from;
  }

  // Where the rank that finishes last ends.
  std::optional<Point> end() const {
    for (u32 r = 0; r < job_.ranks.size(); ++r) {
      const RankProgram& rank = job_.ranks[r];
      if (rank.steps() == 0 || played_.finish[r] != at_) continue;
      for (auto i = static_cast<u32>(rank.rows().size()); i-- > 0;) {
        const Point stream{Point::Of::stream, r, i}, host{Point::Of::host, r, i};
        if (trail_.end[global(stream)] == at_) return stream;
        if (trail_.went[global(host)] == at_) return host;
      }
    }
    return {};
  }

  std::optional<Point> back(const Point& p) {
    if (p.of == Point::Of::host) return back_on_host(p);
    if (p.of == Point::Of::call) return back_from_call(p);
    switch (row(p).op) {
      case SkeletonOp::run:
        return back_over_run(p);
      case SkeletonOp::wait: {
        const Point awaited{Point::Of::stream, p.rank, row(p).target};
        return trail_.end[global(awaited)] == at_ && trail_.free[global(p)] != at_ ? awaited : previous(p);
      }
      default:
        return back_over_transfer(p);
    }
  }

  std::optional<Point> previous(const Point& p) const {
    const u32 before = before_[global(p)];
    if (before == kNone || trail_.free[global(p)] == kNever) return launch(p);
    return Point{Point::Of::stream, p.rank, before};
  }
  Point launch(const Point& p) const { return {Point::Of::host, p.rank, p.row}; }

  // The work, and before it a gap of the stream or the way from the run's first call to its last launch.
  std::optional<Point> back_over_run(const Point& p) {
    const SkeletonRow& run = row(p);
    const Ns free = trail_.free[global(p)], issued = trail_.went[global(p)];
    if (free != kNever && free + run.gap + run.device == at_) {
      add(p.rank, PathKind::device, free + run.gap);
      add(p.rank, PathKind::gap, free);
      return previous(p);
    }
    for (const HullPoint& point : job_.ranks[p.rank].hull_of(run))
      if (issued + point.lead + point.rest == at_) add(p.rank, PathKind::device, issued + point.lead);
    add(p.rank, PathKind::host, issued);
    return launch(p);
  }

  std::optional<Point> back_over_transfer(const Point& p) {
    const u32 c = job_.ranks[p.rank].call[p.row];
    const std::string_view name = text(p.rank, row(p).name), group = text(p.rank, row(p).group);
    const JobCall& call = job_.calls[c];
    const auto members = job_.members_of(call);
    const bool is_sender = call.is_eager && members[0].rank == p.rank && members[0].row == p.row;
    const Ns own = trail_.start[global(p)], began = is_sender ? own : std::max(own, played_.call_start[c]);
    // What is before the transfer is waiting for members without a file.
    if (!is_sender) add(p.rank, PathKind::transfer, std::max(began, at_ - call.transfer), name, group);
    add(p.rank, is_sender ? PathKind::transfer : PathKind::absent, began, name, group);
    for (const Member& m : members) {
      const Point start{Point::Of::call, m.rank, m.row};
      if (trail_.start[global(start)] == began && (!is_sender || m.rank == p.rank)) return start;
    }
    return Point{Point::Of::call, p.rank, p.row};
  }

  std::optional<Point> back_from_call(const Point& p) {
    const Ns free = trail_.free[global(p)];
    if (free != kNever && free + row(p).gap == at_) {
      add(p.rank, PathKind::gap, free);
      return previous(p);
    }
    add(p.rank, PathKind::host, trail_.went[global(p)]);
    return launch(p);
  }

  std::optional<Point> back_on_host(const Point& p) {
    const u32 held_by = trail_.held_by[global(p)];
    if (trail_.went[global(p)] > trail_.came[global(p)] && held_by != kNone)
      return Point{Point::Of::stream, p.rank, held_by};
    if (p.row == 0) return {};
    const Point before{Point::Of::host, p.rank, p.row - 1};
    const SkeletonRow& own = row(before);
    const Ns went = trail_.went[global(before)];
    if (own.op == SkeletonOp::compute) add(p.rank, PathKind::device, went + own.host);
    const bool is_pause = own.op == SkeletonOp::pause;
    add(p.rank, is_pause ? PathKind::pause : PathKind::host, went,
        is_pause ? text(p.rank, own.name) : std::string_view());
    return before;
  }

  // At the ends of steps; what is alike becomes one.
  void cut(JobPath& path) const {
    const auto append = [&](JobPiece piece) {
      if (!path.pieces.empty()) {
        JobPiece& last = path.pieces.back();
        if (last.step == piece.step && last.rank == piece.rank && last.kind == piece.kind &&
            last.name == piece.name && last.group == piece.group) {
          last.dur += piece.dur;
          return;
        }
      }
      path.pieces.push_back(piece);
    };
    u32 step = 0;
    for (JobPiece piece : pieces_) {
      Ns start = piece.start;
      const Ns end = start + piece.dur;
      while (start < end) {
        while (step + 1 < path.steps.size() && path.steps[step].end <= start) ++step;
        const Ns until = step + 1 < path.steps.size() ? std::min(end, path.steps[step].end) : end;
        piece.step = step;
        piece.start = std::max(start, path.steps[0].start);
        piece.dur = until - piece.start;
        if (piece.dur > 0) append(piece);
        start = until;
      }
    }
  }

  const JobProgram& job_;
  Trail trail_;
  Replayed played_;
  std::vector<u32> before_;  // per row of all ranks: the one before it on its stream
  Ns at_ = 0;
  std::vector<JobPiece> pieces_;  // the last one first
};

const Field kColumns[] = {
    {"step", Type::integer, Unit::none, Role::key,
     "Number of the step, as its mark says, else counted from 0."},
    {"order", Type::integer, Unit::none, Role::key, "Place of the piece in its step, from 0 on."},
    {"rank", Type::integer, Unit::none, Role::detail, "Whose piece it is; null: a file without a rank."},
    {"kind", Type::text, Unit::none, Role::key,
     "host: it works or launches; pause: it launches nothing; device: kernels and copies, or operators of a job without devices; gap: the stream "
     "idles between work that had been launched; transfer: a collective or send, once its last rank has come; absent: its ranks without a file are waited for; start: that rank "
     "begins later than the first one."},
    {"name", Type::text, Unit::none, Role::detail,
     "Of a transfer: the call; of a pause: what is around it; else null."},
    {"group", Type::text, Unit::none, Role::detail, "Of a transfer: its group of ranks; else null."},
    {"start_ns", Type::integer, Unit::ns, Role::time,
     "Start of the piece in the replay, Unix time of the job's common clock."},
    {"dur_ns", Type::integer, Unit::ns, Role::value,
     "How long it is; those of a step add up to the step as replayed."},
    {"share", Type::real, Unit::ratio, Role::value, "That as a share of the step."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  return skeleton_table(build_skeleton(trace), kJobCriticalPath.name);
}

Result<Table> reduce(std::span<const RankTable> tables, const ParamValues&) {
  Table answer(kJobCriticalPath.name, kColumns);
  const JobProgram job = make_program({tables.begin(), tables.end()});
  answer.notes.merge(job.notes);
  const JobPath path = job_path(job);
  i64 order = 0;
  u32 step = kNone;
  for (const JobPiece& piece : path.pieces) {
    if (piece.step != step) order = 0;
    step = piece.step;
    const Ns whole = path.steps[step].length();
    answer.append({path.steps[step].number, order++, or_null(job.ranks[piece.rank].rank),
                   path_kind_name(piece.kind), or_null(piece.name), or_null(piece.group), piece.start,
                   piece.dur, static_cast<double>(piece.dur) / static_cast<double>(whole)});
  }
  return answer;
}

}  // namespace

const char* path_kind_name(PathKind kind) {
  constexpr const char* kNames[] = {"host", "pause", "device", "gap", "transfer", "absent", "start"};
  return kNames[static_cast<size_t>(kind)];
}

PathTimes mean_times(const JobPath& path) {
  PathTimes times{};
  for (const JobPiece& piece : path.pieces) times[static_cast<size_t>(piece.kind)] += piece.dur;
  for (Ns& time : times) time /= std::max<Ns>(1, static_cast<Ns>(path.steps.size()));
  return times;
}

JobPath job_path(const JobProgram& job) { return Walk(job).path(); }

const Analysis kJobCriticalPath = {
    .name = "job_critical_path",
    .summary = "Which rank's host, device or transfer each moment of a step waits for, across all ranks.",
    .doc =
        "The job is run again from its skeletons (see replay) with the times as they were, and followed back from its end: work began when its "
        "stream was free, when what the stream waits for was done, or when it was launched; a collective when its last rank had come; a host went on when what it "
        "waited for had ended. What came last is what the job waited for. A step is from when its first rank begins it to when the first one begins the "
        "next, the last one to the job's end; pieces of a step add up to it. Neighbours of one rank and kind are one row. Where two "
        "came at the same time one is taken: of a call its first such rank, of work its stream before its launch. critical_path has the names of "
        "kernels and operators, of each rank by itself.",
    .params = {},
    .columns = kColumns,
    .reads = kSkeletonArgs,
    .map = map_trace,
    .reduce = reduce,
    .part_columns = std::span(kSkeletonColumns).subspan(1),
    .on_request = true,
};

}  // namespace spotter::analyze
