#include <algorithm>
#include <map>

#include "base/lower_median.h"
#include "base/saturated.h"
#include "base/time.h"
#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/recorded_hang.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

using analyze::SkeletonOp;
using analyze::SkeletonRow;

constexpr Ns kLeastWait = 300 * kMillisecond;

// What a rank asked of a group until its recording ended.
struct Asked {
  u32 rank;
  i64 made, ended;
  Ns last;    // when it asked last, on the job's clock
  Ns waited;  // from then to its recording's end; kMaxTime: not known
  std::string operation;
};

std::map<std::string, std::vector<Asked>> asked_by_group(const JobModel& model) {
  std::map<std::string, std::vector<Asked>> groups;
  for (u32 r = 0; r < model.job.ranks.size(); ++r) {
    const analyze::RankProgram& rank = model.job.ranks[r];
    for (const SkeletonRow& row : rank.rows())
      if (row.op == SkeletonOp::last_call)
        groups[std::string(rank.skeleton.strings[row.group])].push_back(
            {r, row.count, row.number, row.at - rank.clock, row.end == 0 ? kMaxTime : row.end - row.at,
             std::string(rank.skeleton.strings[row.name])});
  }
  return groups;
}

// The innermost span in which the rank's host was at the end.
std::string inside(const JobModel& model, u32 r) {
  const analyze::RankProgram& rank = model.job.ranks[r];
  std::string name;
  for (const SkeletonRow& row : rank.rows())
    if (row.op == SkeletonOp::open_span) name = rank.skeleton.strings[row.name];
  return name;
}

struct Missing {
  std::string group;
  std::vector<Asked> waiting, absent;
  Ns since() const { return std::ranges::min_element(absent, {}, &Asked::last)->last; }
};

// Most members have calls that did not end; the others have asked for fewer, and all of theirs have ended.
std::optional<Missing> missing_in(const std::string& name, const std::vector<Asked>& asked) {
  Missing missing{.group = name, .waiting = {}, .absent = {}};
  i64 most = 0;
  for (const Asked& a : asked) most = std::max(most, a.made);
  for (const Asked& a : asked) {
    if (a.made > a.ended)
      missing.waiting.push_back(a);
    else if (a.made < most)
      missing.absent.push_back(a);
  }
  if (missing.absent.empty() || missing.waiting.size() < missing.absent.size()) return {};
  return missing;
}

// Of those that were recorded to their end.
Ns usual_step(const JobModel& model) {
  std::vector<Ns> lengths;
  for (const analyze::RankProgram& rank : model.job.ranks)
    for (u32 step = 0; step + 1 < rank.steps(); ++step) lengths.push_back(rank.step_length(step));
  return lengths.empty() ? 0 : lower_median(lengths);
}

// A recording that ends while somebody is late looks the same, for as long as he is late.
bool is_long(const JobModel& model, const Missing& missing) {
  constexpr Ns kSteps = 2;
  std::vector<Ns> waited;
  for (const Asked& a : missing.waiting) waited.push_back(a.waited);
  return lower_median(waited) > std::max(kLeastWait, multiply_saturated(usual_step(model), kSteps));
}

std::optional<Candidate> of_traces(const JobModel& model) {
  std::optional<Missing> first;
  for (const auto& [name, asked] : asked_by_group(model)) {
    std::optional<Missing> missing = missing_in(name, asked);
    if (missing && is_long(model, *missing) && (!first || missing->since() < first->since()))
      first = std::move(missing);
  }
  if (!first) return {};
  Candidate c;
  for (const Asked& a : first->absent) c.ranks.push_back(a.rank);
  c.group = first->group;
  c.subject = first->waiting[0].operation;
  const std::string where = inside(model, c.ranks[0]);
  c.what = fmt::format("{} never launched {} {}{}; {} rank{} wait{} in it", who(model, c.ranks), c.subject,
                       first->absent[0].made + 1, first->group.empty() ? "" : " of group " + first->group,
                       first->waiting.size(), first->waiting.size() == 1 ? "" : "s",
                       first->waiting.size() == 1 ? "s" : "");
  if (!where.empty())
    c.what += fmt::format("; at the end its host was inside {}", render::short_name(where, 56));
  c.is_certain = true;
  c.against = "a file that ends before the others' looks like that, too";
  return c;
}

Candidate of_records(const JobModel& model, const RecordedHang& hang) {
  Candidate c;
  c.untraced = hang.ranks;
  for (u32 r = 0; r < model.job.ranks.size(); ++r)
    if (model.job.ranks[r].rank && c.untraced.erase(*model.job.ranks[r].rank) > 0) c.ranks.push_back(r);
  c.group = hang.group;
  c.subject = hang.operation;
  c.what = hang.what + ", as the dumps of their flight recorders say";
  c.evidence = "--table flight_recorder";
  c.remedy =
      "Look at what these ranks' hosts do (py-spy dump, their logs, dmesg); their dumps hold the stack from which each call was made.";
  c.is_certain = true;
  c.is_doubtful = hang.has_no_dump;
  c.against = hang.has_no_dump ? "a dump that was left out looks like that, too"
                               : "for a moment dumps that are written while the job runs look like that, too";
  return c;
}

// The dumps know the call's number, the traces what the host was doing.
std::vector<Candidate> find_candidates(const JobModel& model) {
  std::optional<Candidate> traced = of_traces(model);
  const std::optional<RecordedHang> recorded =
      model.evidence.records ? recorded_hang(*model.evidence.records) : std::nullopt;
  if (!recorded && !traced) return {};
  if (!recorded) {
    if (model.evidence.records)
      traced->against = "the dumps of flight recorders show nobody that others wait for";
    return {std::move(*traced)};
  }
  Candidate c = of_records(model, *recorded);
  if (!traced) return {std::move(c)};
  c.is_confirmed = rank_numbers(model, traced->ranks) == recorded->ranks;
  if (c.is_confirmed) {
    c.what += " and the traces, too";
    c.against.clear();
  } else {
    c.against = fmt::format("the traces say otherwise: {}", lower_first(traced->what));
  }
  if (const std::string where = c.ranks.empty() ? "" : inside(model, c.ranks[0]); !where.empty())
    c.what += fmt::format("; at the end its host was inside {}", render::short_name(where, 56));
  return {std::move(c)};
}

}  // namespace

const Mechanism kHang = {
    .name = "hang",
    .summary =
        "At the recording's end most ranks of a group have launched collectives that did not end, and one or a few have launched fewer, all of which ended: they did "
        "not arrive, and were waited for by then for over 0.3 s and two usual steps. Of several groups the one whose missing rank did something last the longest ago counts. Calls are counted by record_param_comms. Dumps of flight "
        "recorders tell it, too, beside the traces or alone (flight_recorder): ranks wait in a call that others have not made, or for a send. Where both name the same ranks it is "
        "certain.",
    .remedy =
        "Look at what the missing rank's host does (py-spy dump, its log); with TORCH_NCCL_TRACE_BUFFER_SIZE set PyTorch leaves a dump of its flight recorder for each rank: put "
        "them beside the traces.",
    .evidence = "--table collectives",
    .candidates = find_candidates,
    .needs_a_trace = false,
    .compares_ranks = true,
};

}  // namespace spotter::diagnose
