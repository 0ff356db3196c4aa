#include <algorithm>
#include <span>

#include "analyze/replay/unnamed_calls.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

using analyze::SkeletonOp;
using analyze::SkeletonRow;

// "mesh_tp" has "tp", "https" has not.
bool has_word(std::string_view text, std::string_view word) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

// Waits for a call before anything else was launched on the waiting stream since: nothing can overlap it.
struct Immediate {
  u32 rank, wait;  // row
  u32 step;
};

// Tensor groups hold neighbours, which are of one host; of a data-parallel group the ranks between are of
// others.
bool are_neighbours(const JobModel& model, const analyze::JobCall& call) {
  const auto members = std::span(model.job.members).subspan(call.first_member, call.members);
  return members.back().rank - members.front().rank + 1 == members.size();
}

// By what the program calls the group; a group that it does not describe may be of any kind unless it holds
// all ranks, one that no trace describes also unless it leaves out ranks between its own.
bool may_wait(const JobModel& model, const analyze::JobCall& call, std::string_view group) {
  for (const char* kind :
       {"tp", "tensor", "sequence", "context", "expert", "ep", "cp", "pp", "pipeline", "pipe"})
    if (has_word(group, kind)) return false;
  for (const char* kind : {"dp", "data", "shard", "fsdp", "replicate", "default_pg"})
    if (has_word(group, kind)) return true;
  if (call.members < 2) return false;
  return call.members == model.job.ranks.size() ||
         (analyze::is_unnamed(group) && !are_neighbours(model, call));
}

std::vector<Immediate> immediate_waits(const JobModel& model) {
  std::vector<Immediate> found;
  for (u32 r = 0; r < model.job.ranks.size(); ++r) {
    const analyze::RankProgram& rank = model.job.ranks[r];
    if (rank.is_unmarked()) continue;  // each last reduction of a step is in it
    const std::vector<SkeletonRow>& rows = rank.rows();
    i64 step = -1;
    u32 last_reduction = kNone;
    for (u32 i = 0; i < rows.size(); ++i) {
      if (rows[i].op == SkeletonOp::step || rows[i].op == SkeletonOp::end) {
        // The optimizer needs the last reduction of a step.
        if (last_reduction != kNone) found.erase(found.begin() + last_reduction);
        last_reduction = kNone;
        ++step;
      }
      if (rows[i].op != SkeletonOp::wait || step < 0) continue;
      const SkeletonRow& awaited = rows[rows[i].target];
      if (awaited.op != SkeletonOp::collective || awaited.peer != analyze::kNoPeer) continue;
      if (!may_wait(model, model.job.calls[rank.call[rows[i].target]], rank.skeleton.strings[awaited.group]))
        continue;
      const bool is_immediate = std::ranges::none_of(
          rows.begin() + rows[i].target + 1, rows.begin() + i,
          [&](const SkeletonRow& row) { return row.op == SkeletonOp::run && row.stream == rows[i].stream; });
      if (!is_immediate) continue;
      found.push_back({r, i, static_cast<u32>(step)});
      last_reduction = static_cast<u32>(found.size() - 1);
    }
  }
  return found;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  const std::vector<Immediate> waits = immediate_waits(model);
  if (waits.empty()) return {};
  Candidate c;
  for (const Immediate& w : waits)
    if (c.ranks.empty() || c.ranks.back() != w.rank) c.ranks.push_back(w.rank);
  c.what = fmt::format(
      "Computation waits for each collective right after it was launched, {}: nothing overlaps with them though it could",
      times_text(times_a_step(model, waits.size(), c.ranks)));
  c.is_opportunity = true;
  c.is_named = true;
  c.undo = [&model, waits](analyze::Scenario& s) {
    for (const Immediate& w : waits) s.is_skipped[model.row_index(w.rank, w.wait)] = 1;
  };
  return {std::move(c)};
}

}  // namespace

const Mechanism kSerializedCommunication = {
    .name = "serialized_communication",
    .summary =
        "A stream waits for a collective of the data-parallel group before it was given anything to do since: that wait is never for the next operator. "
        "Groups of tensor, sequence, context and expert parallelism need their results at once, and a step's last reduction is needed by "
        "the optimizer: they are left out.",
    .remedy =
        "Let DDP or FSDP launch communication by themselves (no wait() on the handle right away, async_op=True, prefetch on), and check that no "
        "environment variable blocks it (TORCH_NCCL_BLOCKING_WAIT, CUDA_LAUNCH_BLOCKING).",
    .evidence = "--table comm_comp_overlap",
    .candidates = find_candidates,
};

}  // namespace spotter::diagnose
