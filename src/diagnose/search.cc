#include "diagnose/search.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/stable_sort.h"
#include "diagnose/mechanisms/list.h"

namespace spotter::diagnose {
namespace {

using analyze::Scenario;

struct Open {
  const Mechanism* mechanism;
  Candidate candidate;
  size_t place;  // in the order of the mechanisms: of two that gain the same the first counts
};

// Of a thousand ranks that all have a little of something, as many as a user would look at.
constexpr size_t kMostAsked = 64, kMostBeside = 16;

// Of a step: what costs so much is of medium confidence by that alone.
constexpr double kMedium = 0.02;

class Searcher {
 public:
  Searcher(const JobModel& model, double least)
      : model_(model),
        least_(static_cast<Ns>(least * static_cast<double>(model.whole))),
        scenario_(model.base),
        length_(model.whole) {}

  std::vector<Found> run() && {
    std::vector<Open> faults, left, opportunities, rest, caveats;
    for (const Mechanism* mechanism : all_mechanisms()) {
      if (mechanism->needs_a_trace && model_.job.ranks.empty()) continue;
      for (Candidate& c : mechanism->candidates(model_)) {
        auto& open = c.is_caveat                               ? caveats
                     : mechanism->is_rest && !c.is_opportunity ? left
                     : mechanism->is_rest                      ? rest
                     : c.is_opportunity                        ? opportunities
                                                               : faults;
        open.push_back({mechanism, std::move(c), open.size()});
      }
    }
    for (std::vector<Open>* open : {&faults, &left, &opportunities, &rest}) order(*open);
    keep_certain(faults);
    if (model_.whole <= 0) return std::move(found_);
    take(faults, true);
    take_covered(faults);
    // What says why a rank does not come says more.
    std::erase_if(left,
                  [&](const Open& o) { return o.candidate.is_certain && told_of(o.candidate.ranks) > 0; });
    keep_certain(left);
    take(left, false);
    take(opportunities, false);
    take(rest, false);
    scenario_ = model_.base;
    length_ = model_.whole;
    keep_certain(caveats);
    take(caveats, false);
    stable_sort(found_, [](const Found& a, const Found& b) {
      const auto key = [](const Found& f) {
        return std::tuple(f.candidate.is_caveat, f.candidate.is_opportunity, !f.candidate.is_certain,
                          -f.gain);
      };
      return key(a) < key(b);
    });
    return std::move(found_);
  }

 private:
  // The largest first, so that the search can end where no other can gain more; without those that cannot
  // gain anything that is told.
  void order(std::vector<Open>& open) const {
    constexpr double kWorthAsking = 0.003;
    const auto least = static_cast<Ns>(kWorthAsking * static_cast<double>(model_.whole));
    std::erase_if(open, [&](const Open& o) {
      return !o.candidate.is_certain && o.candidate.most < std::min(least, least_);
    });
    stable_sort(open, [](const Open& a, const Open& b) { return a.candidate.most > b.candidate.most; });
  }

  // What all ranks have those without a file have too: they would come earlier by as much.
  Ns gain_of(const Candidate& candidate) const {
    Scenario without = scenario_;
    candidate.undo(without);
    const bool is_of_absent = !model_.job.absent.empty() && !candidate.is_caveat &&
                              candidate.ranks.size() == model_.job.ranks.size();
    if (!is_of_absent) return length_ - length_of(without);
    Scenario with = scenario_;
    with.waits_for_absent = without.waits_for_absent = false;
    return length_of(with) - length_of(without);
  }

  // What faults that were found already cost that are of these ranks.
  Ns told_of(const std::vector<u32>& ranks) const {
    Ns told = 0;
    for (const Found& found : found_) {
      const Candidate& c = found.candidate;
      const bool is_theirs = std::ranges::any_of(
          ranks, [&](u32 rank) { return std::ranges::find(c.ranks, rank) != c.ranks.end(); });
      if (is_theirs && !c.is_caveat && !c.is_opportunity) told += found.gain * model_.steps;
    }
    return told;
  }

  Ns length_of(const Scenario& scenario) const {
    return analyze::replay(model_.job, scenario).length(model_.job);
  }

  void keep_certain(std::vector<Open>& open) {
    for (size_t i = open.size(); i-- > 0;)
      if (open[i].candidate.is_certain) keep(open, i, 0, true);
  }

  void take(std::vector<Open>& open, bool together) {
    while (!open.empty()) {
      size_t best = open.size();
      Ns most = 0;
      // Who cannot gain more than the best so far, or nothing that is told, is not asked.
      const size_t asked = std::min(open.size(), kMostAsked);
      for (size_t i = 0; i < asked && open[i].candidate.most >= std::max(most, least_); ++i) {
        const Candidate& one = open[i].candidate;
        const Ns gain = one.undo ? gain_of(one) : one.known_gain - told_of(one.ranks);
        if (gain < most || (gain == most && (most == 0 || open[i].place > open[best].place))) continue;
        best = i;
        most = gain;
      }
      const bool is_alone = most >= least_;
      if (!is_alone && together) std::tie(best, most) = most_beside_others(open);
      if (best == open.size() || most < least_) return;
      keep(open, best, most, is_alone);
    }
  }

  // Silences of single hosts that the job waits for as it is, but not once what was found is gone: a pause
  // that lets the device run dry only because copies left it nothing to do is one to be mended all the same.
  void take_covered(std::vector<Open>& open) {
    if (found_.empty()) return;
    const Scenario now = scenario_;
    const Ns now_length = length_;
    Scenario told = now;
    scenario_ = model_.base;
    length_ = model_.whole;
    const auto least = std::max(least_, static_cast<Ns>(kMedium * static_cast<double>(model_.whole)));
    for (size_t i = 0, asked = 0; i < open.size() && asked < kMostAsked; ++asked) {
      const Candidate& one = open[i].candidate;
      if (one.most < least) break;
      const Ns gain = is_own_silence(one, told) ? gain_of(one) : 0;
      if (gain < least) {
        ++i;
        continue;
      }
      keep(open, i, gain, true);
      Candidate& kept = found_.back().candidate;
      if (kept.against.empty()) kept.against = "it costs nothing once the other findings are gone";
      kept.undo(told);
      scenario_ = model_.base;
      length_ = model_.whole;
    }
    scenario_ = now;
    length_ = now_length;
  }

  // Whether a candidate changes nothing but times of some ranks' hosts that `found` has left as they were.
  bool is_own_silence(const Candidate& one, const Scenario& found) const {
    if (!one.undo || one.is_doubtful || one.ranks.empty() || one.ranks.size() == model_.job.ranks.size())
      return false;
    const Scenario& base = model_.base;
    Scenario without = base;
    one.undo(without);
    for (size_t i = 0; i < base.host.size(); ++i)
      if (without.host[i] != base.host[i] && found.host[i] != base.host[i]) return false;
    return without.transfer == base.transfer && without.is_skipped == base.is_skipped &&
           without.run == base.run && without.device == base.device &&
           without.host_factor == base.host_factor;
  }

  // Where equal faults on two ranks cover each other, taking one away gains nothing: the one that costs most
  // where all others are gone.
  std::pair<size_t, Ns> most_beside_others(const std::vector<Open>& open) const {
    std::pair<size_t, Ns> best = {open.size(), 0};
    if (open.size() < 2) return best;
    Scenario all = scenario_;
    for (const Open& one : open)
      if (one.candidate.undo) one.candidate.undo(all);
    const Ns length = analyze::replay(model_.job, all).length(model_.job);
    if (length_ - length < least_) return best;
    for (size_t i = 0; i < std::min(open.size(), kMostBeside) && open[i].candidate.most >= best.second; ++i) {
      Scenario others = scenario_;
      for (size_t k = 0; k < open.size(); ++k)
        if (k != i && open[k].candidate.undo) open[k].candidate.undo(others);
      const Ns cost = analyze::replay(model_.job, others).length(model_.job) - length;
      if (cost > best.second || (cost > 0 && cost == best.second && open[i].place < open[best.first].place))
        best = {i, cost};
    }
    return best;
  }

  void keep(std::vector<Open>& open, size_t i, Ns gain, bool is_alone) {
    Open one = std::move(open[i]);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
    if (one.candidate.undo) {
      one.candidate.undo(scenario_);
      length_ = analyze::replay(model_.job, scenario_).length(model_.job);
    }
    Found found{.mechanism = one.mechanism, .candidate = std::move(one.candidate)};
    found.gain = model_.steps > 0 ? gain / model_.steps : gain;
    found.share = model_.whole > 0 ? static_cast<double>(gain) / static_cast<double>(model_.whole) : 0;
    if (!is_alone && found.candidate.against.empty())
      found.candidate.against = "taken away alone it gains little: another fault holds the job up as long";
    const bool is_plain = found.share >= kMedium || found.candidate.is_certain || found.candidate.is_named;
    // On a busy machine some rank is late by a little now and then.
    if (found.candidate.is_confirmed || (is_plain && come_last(found)))
      found.confidence = is_alone ? Confidence::high : Confidence::medium;
    else
      found.confidence = is_plain && !found.candidate.is_doubtful ? Confidence::medium : Confidence::low;
    found_.push_back(std::move(found));
  }

  // Whether the others wait for its ranks by half of what it costs, or more.
  bool come_last(const Found& found) const {
    const std::vector<u32>& ranks = found.candidate.ranks;
    if (found.candidate.is_opportunity || found.gain <= 0 || ranks.size() == model_.job.ranks.size())
      return false;
    if (found.candidate.known_gain > 0) return false;  // it is told from that
    return std::ranges::any_of(ranks, [&](u32 r) { return model_.lateness(r) >= found.gain / 2; });
  }

  const JobModel& model_;
  Ns least_;
  Scenario scenario_;  // without what was found so far
  Ns length_;
  std::vector<Found> found_;
};

}  // namespace

const char* confidence_name(Confidence confidence) {
  constexpr const char* kNames[] = {"low", "medium", "high"};
  return kNames[static_cast<size_t>(confidence)];
}

std::vector<Found> search(const JobModel& model, double least) { return Searcher(model, least).run(); }

}  // namespace spotter::diagnose
