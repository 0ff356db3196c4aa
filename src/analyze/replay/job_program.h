// JobProgram: the skeletons of all ranks with the calls in which they meet: what a replay runs.
#pragma once
#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "analyze/replay/skeleton.h"

namespace spotter::analyze {

struct RankProgram {
  std::optional<i64> rank;
  std::string path, host;  // host: empty where the trace does not say
  Skeleton skeleton;
  u32 streams = 0;
  i64 device = 0;                 // its number on its host
  bool are_iterations = false;    // its steps are those of inference
  bool are_by_optimizer = false;  // they end with an optimizer's step: the first begins with the recording
  bool tells_silences = true;     // recorded_part.h
  i64 launchers = 0;              // threads that launch, where they are many
  u32 first_row = 0;              // of all ranks' rows
  u32 first_step = 0;             // of all ranks' steps
  std::vector<i64> step_numbers;
  std::vector<u32> step_rows;        // where each begins; one more: the end
  std::vector<u32> job_steps;        // per step, ascending: of JobProgram::step_numbers
  std::vector<u32> call;             // per row: of JobProgram::calls, or kNone
  Ns clock = 0;                      // its clock is ahead of the job's by that
  std::optional<Ns> recorded_until;  // on its own clock; none: not known

  const std::vector<SkeletonRow>& rows() const { return skeleton.rows; }
  std::span<const HullPoint> hull_of(const SkeletonRow& row) const { return skeleton.hull_of(row); }
  u32 steps() const { return static_cast<u32>(step_numbers.size()); }
  // Its only step is all that was recorded, since nothing marks any: what comes in each step is in it many
  // times.
  bool is_unmarked() const {
    return steps() == 1 && skeleton.strings[rows()[step_rows[0]].name] == kUnmarked;
  }
  bool has_device_work() const { return streams > 0; }
  // Of its device; empty: the trace does not say.
  std::string_view device_name() const {
    return step_rows.empty() ? std::string_view() : skeleton.strings[rows()[step_rows.back()].name];
  }
  // When the host came to a row, on the job's clock.
  Ns at(u32 row) const { return skeleton.rows[row].at - clock; }
  // When the host had left a step, and all device work launched until then had ended.
  Ns done(u32 step) const {
    const u32 next = step_rows[step + 1];
    return std::max(at(next), rows()[next].end - clock);
  }
  // The same of its last step.
  Ns end() const { return std::max(at(step_rows.back()), rows()[step_rows.back()].end - clock); }
  // From a step's start to the next one's; of the last one to the end.
  Ns step_length(u32 step) const {
    return (step + 1 == steps() ? end() : at(step_rows[step + 1])) - at(step_rows[step]);
  }
  // The step that is this one of the job's.
  std::optional<u32> step_at(u32 job_step) const {
    const auto found = std::ranges::lower_bound(job_steps, job_step);
    if (found == job_steps.end() || *found != job_step) return {};
    return static_cast<u32>(found - job_steps.begin());
  }
};

struct Member {
  u32 rank;  // of JobProgram::ranks
  u32 row;
};

// Something that several ranks do together: it begins when the last of them has come.
struct JobCall {
  u32 first_member = 0, members = 0;
  bool is_send = false;   // a send and its receive, in this order
  bool is_eager = false;  // the sender goes on by itself, after its own time; else all end together
  Ns transfer = 0;        // from when the last one has come
  // Of members without a file (absent_ranks.h): how much later than the end of call `before` the last of them
  // came, and how long the last one here waited for it.
  u32 before = kNone;
  Ns arrival = 0, waited = 0;
  Ns sending = 0;  // of an eager sender
};

// A call that a rank had not come to when its recording ended.
struct MissedCall {
  u32 rank;   // of JobProgram::ranks
  u32 call;   // of JobProgram::calls
  Ns waited;  // by the last of the others that had come, until then
};

struct JobProgram {
  std::vector<RankProgram> ranks;
  std::vector<JobCall> calls;
  std::vector<Member> members;
  std::vector<MissedCall> missed;
  std::vector<i64> step_numbers;  // of the job's steps, in order
  u32 rows = 0, steps = 0;        // of all ranks
  std::set<i64> absent;           // ranks that calls name, and of which no file has any
  std::set<i64> apart;            // ranks that are left out: they were recorded at another time
  bool are_apart = false;         // recordings of several times, and nothing tells which is the job's
  Notes notes;

  std::span<const Member> members_of(const JobCall& call) const {
    return std::span(members).subspan(call.first_member, call.members);
  }
  // Whether a rank with a program is absent: nothing of that is on its device. Its host's time has waits for
  // the device in it, of which nobody knows how long they would be.
  bool is_absent(const RankProgram& rank) const { return rank.rank && absent.contains(*rank.rank); }
  const SkeletonRow& row(const Member& m) const { return ranks[m.rank].rows()[m.row]; }
  Ns start(const Member& m) const { return row(m).start - ranks[m.rank].clock; }
  Ns end(const Member& m) const { return row(m).end - ranks[m.rank].clock; }
};

// Their columns are kSkeletonColumns but the rank. Each is freed when its rank is read.
JobProgram make_program(std::vector<RankTable> tables);

}  // namespace spotter::analyze
