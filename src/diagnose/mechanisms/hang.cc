#include <algorithm>
#include <map>

#include "diagnose/mechanisms/list.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

using analyze::SkeletonOp;
using analyze::SkeletonRow;

// What a rank asked of a group until its recording ended.
struct Asked {
  u32 rank;
  i64 made, ended;
  Ns last;  // when it asked last, on the job's clock
  std::string operation;
};

std::map<std::string, std::vector<Asked>> asked_by_group(const JobModel& model) {
  std::map<std::string, std::vector<Asked>> groups;
  for (u32 r = 0; r < model.job.ranks.size(); ++r) {
    const analyze::RankProgram& rank = model.job.ranks[r];
    for (const SkeletonRow& row : rank.rows())
      if (row.op == SkeletonOp::last_call)
        groups[std::string(rank.skeleton.strings[row.group])].push_back(
            {r, row.count, row.number, row.at - rank.clock, std::string(rank.skeleton.strings[row.name])});
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

std::vector<Candidate> candidates(const JobModel& model) {
  std::optional<Missing> first;
  for (const auto& [name, asked] : asked_by_group(model)) {
    std::optional<Missing> missing = missing_in(name, asked);
    if (missing && (!first || missing->since() < first->since())) first = std::move(missing);
  }
  if (!first) return {};
  Candidate c;
  for (const Asked& a : first->absent) c.ranks.push_back(a.rank);
  c.group = first->group;
  c.subject = first->waiting[0].operation;
  const std::string where = inside(model, c.ranks[0]);
  c.what = fmt::format("{} never reached {} {}{}; {} rank{} wait{} in it", who(model, c.ranks), c.subject,
                       first->absent[0].made + 1, first->group.empty() ? "" : " of group " + first->group,
                       first->waiting.size(), first->waiting.size() == 1 ? "" : "s",
                       first->waiting.size() == 1 ? "s" : "");
  if (!where.empty())
    c.what += fmt::format("; at the end its host was inside {}", render::short_name(where, 56));
  c.is_certain = true;
  c.is_confirmed = first->waiting.size() > 1;
  c.against = "a file that ends before the others' looks like that, too";
  return {std::move(c)};
}

}  // namespace

const Mechanism kHang = {
    .name = "hang",
    .summary =
        "At the recording's end most ranks of a group have launched collectives that did not end, and one or a few have launched fewer, all of which ended: they did "
        "not arrive. Of several groups the one whose missing rank did something last the longest ago counts. Calls are counted by record_param_comms.",
    .remedy =
        "Look at what the missing rank's host does (py-spy dump, its log); with TORCH_NCCL_TRACE_BUFFER_SIZE set PyTorch leaves a flight-recorder dump that "
        "tells more.",
    .evidence = "--table collectives",
    .candidates = candidates,
};

}  // namespace spotter::diagnose
