#include "diagnose/what_if_world.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analyze/range_text.h"
#include "analyze/replay/unnamed_calls.h"
#include "base/lower_median.h"
#include "base/text/suggestion.h"
#include "base/text/utf8.h"
#include "diagnose/mechanisms/list.h"

namespace spotter::diagnose {
namespace {

using analyze::JobCall;
using analyze::Scenario;

Ns times(Ns time, double factor) {
  return static_cast<Ns>(
      std::min(static_cast<double>(time) * factor + 0.5, static_cast<double>(analyze::kLongestSpan)));
}

bool has(const std::vector<analyze::Range>& ranges, std::optional<i64> rank) {
  return rank && std::ranges::any_of(
                     ranges, [&](const analyze::Range& r) { return r.first <= *rank && *rank <= r.last; });
}

// Of the program. A range may have ranks that the job does not, if it has one that the job does.
Result<std::vector<u8>> asked_ranks(const JobModel& model, const WhatIf& question) {
  std::vector<u8> asked(model.job.ranks.size(), question.ranks.empty());
  std::set<i64> present;
  for (u32 r = 0; r < asked.size(); ++r) {
    const std::optional<i64>& rank = model.job.ranks[r].rank;
    if (rank) present.insert(*rank);
    asked[r] |= has(question.ranks, rank);
  }
  for (const analyze::Range& range : question.ranks)
    if (const auto it = present.lower_bound(range.first); it == present.end() || *it > range.last)
      return fail(Code::not_found, "--what-if: the job does not have rank {}; it has {}",
                  analyze::range_text(std::span(&range, 1)),
                  present.empty() ? "no ranks" : "ranks " + analyze::range_text(present));
  return asked;
}

// How tables name the group of a call: whole ("5 [0, 1] mesh_tp"), and by each of its parts.
std::vector<std::string> names_of(const JobModel& model, const JobCall& call) {
  const auto members = model.job.members_of(call);
  const analyze::Skeleton& skeleton = model.job.ranks[members[0].rank].skeleton;
  const std::string group(skeleton.strings[model.job.row(members[0]).group]);
  std::vector<std::string> names = {group};
  const size_t open = group.find('['), close = group.find(']');
  if (open != group.npos && close != group.npos && open < close) {
    names.push_back(group.substr(0, open));
    names.push_back(group.substr(open, close + 1 - open));
    names.push_back(group.substr(close + 1));
  } else if (const size_t blank = group.find(' '); blank != group.npos && !analyze::is_unnamed(group)) {
    names.push_back(group.substr(0, blank));
    names.push_back(group.substr(blank));
  }
  if (call.is_send)
    names.push_back(fmt::format("{} -> {}", model.job.ranks[members[0].rank].rank.value_or(-1),
                                model.job.ranks[members[1].rank].rank.value_or(-1)));
  for (std::string& name : names) {
    name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
    while (name.ends_with(' ')) name.pop_back();
  }
  std::erase(names, "");
  return names;
}

Result<std::vector<u32>> asked_calls(const JobModel& model, const WhatIf& question,
                                     const std::vector<u8>& ranks) {
  std::vector<u32> calls;
  std::set<std::string> groups, words;
  for (u32 c = 0; c < model.job.calls.size(); ++c) {
    const JobCall& call = model.job.calls[c];
    const std::vector<std::string> names = names_of(model, call);
    if (!names.empty()) groups.insert(names[0]);
    words.insert(names.begin(), names.end());
    if (!question.group.empty() && std::ranges::find(names, question.group) == names.end()) continue;
    if (std::ranges::any_of(model.job.members_of(call),
                            [&](const analyze::Member& m) { return ranks[m.rank]; }))
      calls.push_back(c);
  }
  if (question.group.empty() || words.contains(question.group)) return calls;
  constexpr size_t kShown = 8;
  std::string shown;
  for (size_t i = 0; const std::string& group : groups)
    if (i++ < kShown) shown += (i == 1 ? "" : ", ") + to_printable(group);
  if (groups.size() > kShown) shown += fmt::format(" and {} more", groups.size() - kShown);
  const std::vector<std::string> known(words.begin(), words.end());
  const std::string all = groups.empty() ? "; it has none" : fmt::format("; it has {}", shown);
  return fail(Code::not_found, "--what-if: the job has no group \"{}\"{}", to_printable(question.group),
              to_printable(did_you_mean(question.group, known, all)));
}

// What the host takes in each step of a rank.
std::vector<double> host_steps(const JobModel& model, u32 r) {
  std::vector<double> steps;
  for (const analyze::SkeletonRow& row : model.job.ranks[r].rows()) {
    if (row.op == analyze::SkeletonOp::step) steps.push_back(0);
    if (!steps.empty()) steps.back() += static_cast<double>(row.host);
  }
  return steps;
}

double median(std::vector<double> values) { return values.empty() ? 0 : lower_median(values); }

void set_device(const JobModel& model, u32 r, const std::optional<double>& factor, Scenario& world) {
  for (u32 s = 0; s < model.job.ranks[r].steps(); ++s) {
    const Cell& cell = model.cells.at(r, s);
    double& device = world.device[model.step_index(r, s)];
    if (factor)
      device *= *factor;
    else if (cell.is_known && cell.factor > 0)
      device /= cell.factor;
  }
}

void set_host(const JobModel& model, u32 r, const std::optional<double>& factor, Scenario& world) {
  double usual = 0;
  if (!factor) {
    std::vector<double> medians;
    for (const u32 peer : model.stages.ranks[model.stages.of[r]])
      medians.push_back(median(host_steps(model, peer)));
    usual = median(std::move(medians));
  }
  const std::vector<double> own = host_steps(model, r);
  for (u32 s = 0; s < model.job.ranks[r].steps(); ++s)
    if (factor || own[s] > 0) world.host_factor[model.step_index(r, s)] *= factor ? *factor : usual / own[s];
}

i64 set_pauses(const JobModel& model, const std::vector<u8>& ranks, const WhatIf& question, Scenario& world) {
  i64 count = 0;
  for (const PauseAt& pause : model.pauses) {
    if (!ranks[pause.rank]) continue;
    ++count;
    Ns& host = world.host[model.row_index(pause.rank, pause.row)];
    host = question.factor ? times(host, *question.factor) : std::min(host, pause.ideal);
  }
  return count;
}

// Of a link that is slow against none of its references nothing changes.
void set_transfers(const JobModel& model, const std::vector<u32>& calls, const WhatIf& question,
                   Scenario& world) {
  Scenario ideal = world;
  if (!question.factor)
    for (const Candidate& slow : kSlowLink.candidates(model)) slow.undo(ideal);
  for (const u32 c : calls)
    world.transfer[c] = question.factor ? times(world.transfer[c], *question.factor) : ideal.transfer[c];
}

}  // namespace

Result<void> change(const JobModel& model, const WhatIf& question, Scenario& world, Notes& notes) {
  TRY_ASSIGN(const std::vector<u8> ranks, asked_ranks(model, question));
  const auto note = [&](const char* sentence) {
    notes.add("what_if_nothing", Severity::info,
              fmt::format("{}, so that this part of the what-if changes nothing", sentence));
  };
  bool has_peers = false;
  const auto each_rank = [&](auto&& set) {
    for (u32 r = 0; r < ranks.size(); ++r) {
      if (!ranks[r]) continue;
      const bool is_alone = model.stages.ranks[model.stages.of[r]].size() < 2;
      has_peers |= !is_alone;
      if (!question.factor && is_alone) continue;
      set(model, r, question.factor, world);
    }
    if (!question.factor && !has_peers) note("no rank that is meant has a peer of its role");
  };
  switch (question.part) {
    case WhatIf::Part::device:
      each_rank(set_device);
      break;
    case WhatIf::Part::host:
      each_rank(set_host);
      break;
    case WhatIf::Part::pause:
      if (set_pauses(model, ranks, question, world) == 0) note("the hosts that are meant have no pauses");
      break;
    default: {
      TRY_ASSIGN(const std::vector<u32> calls, asked_calls(model, question, ranks));
      set_transfers(model, calls, question, world);
      if (calls.empty()) note("the ranks that are meant transfer nothing");
    }
  }
  return {};
}

}  // namespace spotter::diagnose
