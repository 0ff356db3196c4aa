#include <algorithm>
#include <optional>
#include <vector>

#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

// Of a step: what ranks on one machine differ by anyhow; what those differ by that also wait for a device,
// which they may share.
constexpr double kLeast = 0.02, kLeastWithDevices = 0.2;
constexpr Ns kTimesOthers = 2;  // of the latest of the others
constexpr size_t kLeastRanks = 2;

bool has(const JobModel& model, bool (*is)(const analyze::SkeletonRow&)) {
  return std::ranges::any_of(model.job.ranks, [&](const analyze::RankProgram& rank) {
    return std::ranges::any_of(rank.rows(), is);
  });
}

bool is_of_device(const analyze::SkeletonRow& row) { return row.op == analyze::SkeletonOp::run; }

// By a kernel: such a job's devices say more, what keeps a host from launching, and which device is slow.
bool is_call_of_device(const analyze::SkeletonRow& row) {
  return row.op == analyze::SkeletonOp::collective && row.cause != analyze::Cause::host_thread;
}

// The latest of them: on a machine whose processors are too few ranks are late in turn.
Ns latest_of_others(const JobModel& model, u32 rank) {
  Ns latest = 0;
  for (u32 r = 0; r < model.job.ranks.size(); ++r)
    if (r != rank) latest = std::max(latest, model.lateness(r));
  return latest;
}

// The call that the others had waited for it longest in when its recording ended.
const analyze::MissedCall* longest_missed(const JobModel& model, u32 rank) {
  const analyze::MissedCall* longest = nullptr;
  for (const analyze::MissedCall& missed : model.job.missed)
    if (missed.rank == rank && (longest == nullptr || missed.waited > longest->waited)) longest = &missed;
  return longest;
}

// For longer than a step takes: the job got no further.
std::optional<Candidate> that_never_came(const JobModel& model, u32 rank) {
  const analyze::MissedCall* missed = longest_missed(model, rank);
  if (missed == nullptr || missed->waited <= model.step_ns()) return {};
  const auto members = model.job.members_of(model.job.calls[missed->call]);
  Candidate c;
  c.ranks = {rank};
  c.what = fmt::format("{} had not come to {} when its recording ended: {} {} had waited {} for it",
                       who(model, c.ranks),
                       model.job.ranks[members[0].rank].skeleton.strings[model.job.row(members[0]).name],
                       members.size(), members.size() == 1 ? "other" : "others", human(missed->waited));
  c.evidence = "--table summary";
  c.is_certain = true;
  return c;
}

std::vector<Candidate> find_candidates(const JobModel& model) {
  std::vector<Candidate> found;
  const size_t ranks = model.job.ranks.size();
  const bool has_devices = has(model, is_of_device);
  if (ranks < kLeastRanks || model.steps == 0 || (has_devices && has(model, is_call_of_device))) return found;
  const auto least =
      static_cast<Ns>((has_devices ? kLeastWithDevices : kLeast) * static_cast<double>(model.step_ns()));
  for (u32 r = 0; r < ranks; ++r) {
    const Ns late = model.lateness(r), others = latest_of_others(model, r);
    if (late < kTimesOthers * others + least) continue;
    if (std::optional<Candidate> c = that_never_came(model, r)) {
      found.push_back(std::move(*c));
      continue;
    }
    Candidate c;
    c.ranks = {r};
    c.what = fmt::format(
        "{} comes last to the calls of all ranks, which wait {} for it in each step ({} for the latest of the "
        "others)",
        who(model, c.ranks), human(late), human(others));
    c.most = c.known_gain = late * model.steps;
    found.push_back(std::move(c));
  }
  return found;
}

}  // namespace

const Mechanism kSlowHost = {
    .name = "slow_host",
    .summary =
        "In a job whose calls of all ranks (collectives) are made by hosts (gloo, MPI): a rank starts them so late that the others wait 2 % of "
        "a step for it (20 % where it also has a device to wait for), and twice as long as for any other; or it alone had not come to one of them when its recording ended, for longer than a step takes. Its own operators, its data or what else runs on its "
        "processors hold it up. What is left when pauses, data loading and uneven work are gone.",
    .remedy =
        "Compare its host with the others': the processor time that it gets (limits of its control group, what else runs "
        "there), its storage and its data (spotter metrics --table job).",
    .evidence = "--table stragglers",
    .candidates = find_candidates,
    .is_rest = true,
    .compares_ranks = true,
};

}  // namespace spotter::diagnose
