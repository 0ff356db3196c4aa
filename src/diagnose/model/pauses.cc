#include "diagnose/model/pauses.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace spotter::diagnose {
namespace {

using analyze::Cause;
using analyze::JobProgram;
using analyze::RankProgram;
using analyze::SkeletonOp;
using analyze::SkeletonRow;

// For its device, of which nobody recorded what for.
bool waits(std::string_view name) { return name.find("ynchronize") != name.npos; }

bool has_ideal(Cause kind) { return kind == Cause::silence || kind == Cause::after_sync; }

void read(const RankProgram& program, u32 rank, std::vector<PauseAt>& pauses) {
  i64 step = -1;
  for (u32 i = 0; i < program.rows().size(); ++i) {
    const SkeletonRow& row = program.rows()[i];
    if (row.op == SkeletonOp::step) ++step;
    if (row.op != SkeletonOp::pause || step < 0) continue;
    if (row.cause == Cause::silence && (!program.tells_silences || waits(program.skeleton.strings[row.name])))
      continue;
    pauses.push_back({rank, static_cast<u32>(step), i, row.cause, row.host, 0, row.count});
  }
}

// Those that follow one of these waits.
void mark_behind(const JobProgram& job, const std::vector<SyncAt>& syncs, std::vector<PauseAt>& pauses) {
  auto sync = syncs.begin();
  for (PauseAt& pause : pauses) {
    while (sync != syncs.end() && std::pair(sync->rank, sync->row + 1) < std::pair(pause.rank, pause.row))
      ++sync;
    pause.follows_sync = sync != syncs.end() && sync->rank == pause.rank && sync->row + 1 == pause.row &&
                         takes_along(*sync, job.ranks[pause.rank].rows()[pause.row]);
  }
}

void set_ideals(const JobProgram& job, const std::vector<u32>& ranks, std::vector<PauseAt>& pauses) {
  u64 cells = 0;
  std::vector<u8> is_of_stage(job.ranks.size());
  for (const u32 r : ranks) {
    cells += job.ranks[r].steps();
    is_of_stage[r] = 1;
  }
  std::unordered_map<i64, std::vector<Ns>> by_place;
  const auto each = [&](auto&& act) {
    for (PauseAt& p : pauses)
      if (is_of_stage[p.rank] && has_ideal(p.kind)) act(p, job.ranks[p.rank].rows()[p.row].number);
  };
  each([&](PauseAt& p, i64 place) { by_place[place].push_back(p.host); });
  std::unordered_map<i64, Ns> ideal;
  for (auto& [place, times] : by_place) {
    if (4 * times.size() < 3 * cells) continue;
    const auto quartile = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
    std::ranges::nth_element(times, quartile);
    ideal.emplace(place, *quartile);
  }
  each([&](PauseAt& p, i64 place) {
    const auto found = ideal.find(place);
    p.ideal = found == ideal.end() ? 0 : std::min(found->second, p.host);
  });
}

}  // namespace

std::vector<SyncAt> syncs_of(const JobProgram& job) {
  std::vector<SyncAt> syncs;
  for (u32 r = 0; r < job.ranks.size(); ++r) {
    if (job.ranks[r].launchers > 0) continue;  // one of many threads waits
    if (job.ranks[r].is_unmarked()) continue;  // a loop may wait where its step ends
    const std::vector<SkeletonRow>& rows = job.ranks[r].rows();
    size_t open = syncs.size(), first_of_step = open;  // `open`: since the last launch
    i64 launched = 0, waited = 0;                      // in the step so far
    i64 begun = 0;                                     // with collectives
    std::vector<i64> begun_by;                         // each wait of the step, before it
    i64 step = -1;
    for (u32 i = 0; i < rows.size(); ++i) {
      if (rows[i].op == SkeletonOp::step || rows[i].op == SkeletonOp::end) {
        syncs.resize(open);
        // Before a mark of its own begins the next step a loop reads its loss and copies the next batch: a
        // few waits, with a copy for each. Many of them are a fault.
        constexpr i64 kFew = 3;
        begun_by.resize(std::min(begun_by.size(), syncs.size() - first_of_step));
        for (i64 tail = 1; tail <= kFew && !job.ranks[r].are_by_optimizer && !begun_by.empty() &&
                           syncs.back().kind == Cause::none && begun - begun_by.back() <= tail;
             ++tail) {
          begun_by.pop_back();
          syncs.pop_back();
        }
        begun_by.clear();
        first_of_step = open = syncs.size();
        launched = waited = begun = 0;
        ++step;
      }
      if (rows[i].op == SkeletonOp::run) launched += rows[i].count, begun += rows[i].count;
      if (rows[i].op == SkeletonOp::collective) ++begun;
      if (rows[i].op == SkeletonOp::sync && step >= 0) {
        // Behind an optimizer, which ends the step for us, a loop reads its loss: a copy for each wait, and
        // nothing else of the next step was launched.
        const bool is_behind_step =
            job.ranks[r].are_by_optimizer && rows[i].cause == Cause::none && launched <= ++waited;
        if (!is_behind_step) {
          syncs.push_back({r, static_cast<u32>(step), i, rows[i].cause});
          begun_by.push_back(begun);
        }
      }
      if (rows[i].op == SkeletonOp::run || rows[i].op == SkeletonOp::collective) open = syncs.size();
    }
    syncs.resize(open);
  }
  return syncs;
}

std::vector<PauseAt> pauses_of(const JobProgram& job, const Stages& stages) {
  std::vector<PauseAt> pauses;
  for (u32 r = 0; r < job.ranks.size(); ++r) read(job.ranks[r], r, pauses);
  mark_behind(job, syncs_of(job), pauses);
  for (const std::vector<u32>& ranks : stages.ranks) set_ideals(job, ranks, pauses);
  return pauses;
}

}  // namespace spotter::diagnose
