#include "analyze/flight_recorder/group_findings.h"

#include <algorithm>
#include <array>
#include <limits>

#include "analyze/range_text.h"
#include "base/stable_sort.h"

namespace spotter::analyze {
namespace {

using Kind = GroupFinding::Kind;
constexpr size_t kMostTold = 5;  // forms or pairs that a detail names

// The smaller of those that are there.
std::optional<i64> lesser(std::optional<i64> a, std::optional<i64> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

std::string ranks_text(const std::set<i64>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", range_text(ranks));
}

// A rank's calls of one collective; several where they are coalesced.
std::span<const GroupCall> calls_of(const GroupRank& rank, i64 sequence) {
  const auto [first, last] = std::ranges::equal_range(rank.collectives, sequence, {}, &GroupCall::sequence);
  return {first, last};
}

// Looks at one group.
class GroupReader {
 public:
  GroupReader(const ProcessGroups& all, size_t group) : all_(all), id_(group), group_(all.groups()[group]) {}

  std::vector<GroupFinding> read() {
    find_completed();
    const std::optional<i64> open = first_open(), lacking = first_not_called();
    if (open) add(at(*open));
    if (lacking && lacking != open) add(at(*lacking));
    find_difference();
    find_unanswered();
    return std::move(findings_);
  }

 private:
  void add(GroupFinding finding) { findings_.push_back(std::move(finding)); }

  std::optional<i64> first_open() const {
    std::optional<i64> first;
    for (const auto& [rank, place] : group_.ranks) first = lesser(first, place.first_open());
    return first;
  }

  // The first number that some rank has called after another one's last.
  std::optional<i64> first_not_called() const {
    std::optional<i64> least, most;
    for (const auto& [rank, place] : group_.ranks) {
      if (place.is_silent()) continue;
      least = lesser(least, place.last);
      most = std::max(*place.last, most.value_or(*place.last));
    }
    return least < most ? std::optional(*least + 1) : std::nullopt;
  }

  // Where each member is in one collective.
  GroupFinding at(i64 sequence) const {
    GroupFinding f{.group = id_, .sequence = sequence};
    for (const i64 rank : group_.members) {
      const auto found = group_.ranks.find(rank);
      if (!all_.ranks().contains(rank)) {
        f.without_dump.insert(rank);
      } else if (found == group_.ranks.end() || found->second.is_silent()) {
        f.silent.insert(rank);
      } else {
        place(found->second, f);
      }
    }
    const bool lacks = !f.missing.empty() || !f.silent.empty();
    f.kind = lacks ? Kind::not_joined : f.ended.empty() ? Kind::unfinished : Kind::left_behind;
    f.ranks = lacks ? f.missing : f.inside;
    if (lacks) f.ranks.insert(f.silent.begin(), f.silent.end());
    return f;
  }

  static void place(const GroupRank& rank, GroupFinding& f) {
    const std::span<const GroupCall> calls = calls_of(rank, f.sequence);
    for (const GroupCall& call : calls) {
      f.since = lesser(f.since, call.created);
      if (!f.form) f.form = call.form;
    }
    const bool is_inside = std::ranges::find(calls, false, &GroupCall::has_ended) != calls.end();
    (is_inside ? f.inside : *rank.last < f.sequence ? f.missing : f.ended).insert(rank.rank);
  }

  void find_completed() {
    constexpr i64 kNever = std::numeric_limits<i64>::max();
    i64 completed = kNever;
    bool has_any = false;
    for (const auto& [rank, place] : group_.ranks) {
      if (place.is_silent()) continue;
      const std::optional<i64> open = place.first_open();
      completed = std::min(completed, open ? *open - 1 : *place.last);
      has_any |= !place.collectives.empty();
    }
    if (!has_any || completed < 1) return;
    GroupFinding f = at(completed);
    f.kind = Kind::completed;
    f.ranks = f.ended;
    add(std::move(f));
  }

  using Form = std::vector<u32>;  // of coalesced calls

  // The first number under which calls differ; what comes behind it may differ for that alone.
  void find_difference() {
    struct Made {
      i64 sequence, rank;
      u32 form;
    };
    std::vector<Made> all;
    for (const auto& [rank, place] : group_.ranks)
      for (const GroupCall& call : place.collectives) all.push_back({call.sequence, rank, call.form});
    stable_sort(all, [](const Made& a, const Made& b) { return a.sequence < b.sequence; });
    std::map<i64, Form> forms;
    for (size_t i = 0; i < all.size(); ++i) {
      forms[all[i].rank].push_back(all[i].form);
      if (i + 1 < all.size() && all[i + 1].sequence == all[i].sequence) continue;
      if (std::optional<GroupFinding> f = difference_at(all[i].sequence, forms)) return add(std::move(*f));
      forms.clear();
    }
  }

  std::optional<GroupFinding> difference_at(i64 sequence, const std::map<i64, Form>& forms) const {
    const Form& first = forms.begin()->second;
    const bool are_same = std::ranges::all_of(forms, [&](const auto& one) { return one.second == first; });
    if (are_same && !all_.form(first.front()).is_all_to_all) return std::nullopt;
    size_t longest = 0;
    for (const auto& [rank, form] : forms) longest = std::max(longest, form.size());
    for (const auto& [rank, form] : forms)
      if (form.size() < longest && group_.ranks.at(rank).may_lack_part(sequence)) return std::nullopt;
    std::map<std::string, std::set<i64>> by_agreed;
    for (const auto& [rank, form] : forms) by_agreed[agreed(form)].insert(rank);
    const std::string sums = by_agreed.size() == 1 ? unequal_sums(forms) : "";
    if (by_agreed.size() == 1 && sums.empty()) return std::nullopt;
    GroupFinding f = at(sequence);
    f.kind = Kind::differs;
    f.ranks.clear();
    f.detail = sums.empty() ? difference(by_agreed, forms, f.ranks) : sums;
    return f;
  }

  std::string agreed(const Form& form) const {
    std::string text;
    for (const u32 one : form) text += all_.form(one).agreed + '\n';
    return text;
  }

  // An all-to-all gives out what it takes in, over all ranks.
  std::string unequal_sums(const std::map<i64, Form>& forms) const {
    i64 in = 0, out = 0;
    if (forms.size() < group_.members.size()) return {};
    for (const auto& [rank, form] : forms) {
      const CallForm& one = all_.form(form.front());
      if (form.size() > 1 || !one.is_all_to_all || one.elements_in < 0 || one.elements_out < 0) return {};
      if (__builtin_add_overflow(in, one.elements_in, &in) ||
          __builtin_add_overflow(out, one.elements_out, &out))
        return {};
    }
    return in == out ? "" : fmt::format("all ranks give {} elements and take {}", in, out);
  }

  std::string shown(const Form& form) const {
    const CallForm& first = all_.form(form.front());
    const std::string more = form.size() > 1 ? fmt::format(" and {} more calls", form.size() - 1) : "";
    return fmt::format("{} {} {}{}", first.operation, first.sizes, first.types, more);
  }

  // The most frequent form first; of equally frequent ones that of the lowest rank.
  std::string difference(const std::map<std::string, std::set<i64>>& by_agreed,
                         const std::map<i64, Form>& forms, std::set<i64>& others) const {
    std::vector<const std::set<i64>*> parts;
    for (const auto& [text, ranks] : by_agreed) parts.push_back(&ranks);
    std::ranges::sort(parts, [](const auto* a, const auto* b) {
      return std::pair(b->size(), *a->begin()) < std::pair(a->size(), *b->begin());
    });
    std::vector<std::string> told;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) others.insert(parts[i]->begin(), parts[i]->end());
      if (i < kMostTold)
        told.push_back(fmt::format("{}: {}", ranks_text(*parts[i]), shown(forms.at(*parts[i]->begin()))));
    }
    if (parts.size() > kMostTold) told.push_back(fmt::format("and {} more", parts.size() - kMostTold));
    return fmt::format("{}", fmt::join(told, "; "));
  }

  i64 open_sends(i64 from, i64 to) const {
    const auto sender = group_.ranks.find(from);
    if (sender == group_.ranks.end()) return 0;
    return std::ranges::count_if(sender->second.transfers,
                                 [&](const OpenTransfer& t) { return !t.receives && t.peer == to; });
  }

  // Receives of which there are more than the other side is sending.
  void find_unanswered() {
    GroupFinding f{.kind = Kind::unanswered, .group = id_};
    std::vector<std::string> told;
    for (const auto& [rank, place] : group_.ranks) {
      std::map<i64, std::vector<const OpenTransfer*>> receives;  // by sender
      for (const OpenTransfer& t : place.transfers)
        if (t.receives) receives[t.peer].push_back(&t);
      for (const auto& [peer, open] : receives) {
        const i64 sends = open_sends(peer, rank);
        if (std::ssize(open) <= sends) continue;
        const OpenTransfer& first = *open[static_cast<size_t>(sends)];
        if (!f.since || (first.created && *first.created < *f.since))
          f.sequence = first.sequence, f.form = first.form;
        f.since = lesser(f.since, first.created);
        f.inside.insert(rank);
        (all_.ranks().contains(peer) ? f.missing : f.without_dump).insert(peer);
        told.push_back(fmt::format("rank {} from {}", rank, peer));
      }
    }
    if (told.empty()) return;
    f.ranks = f.missing;
    const size_t more = told.size() - std::min(told.size(), kMostTold);
    told.resize(told.size() - more);
    f.detail = fmt::format("{}{}", fmt::join(told, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
    add(std::move(f));
  }

  const ProcessGroups& all_;
  size_t id_;
  const ProcessGroup& group_;
  std::vector<GroupFinding> findings_;
};

std::optional<Ns> trouble_since(const std::vector<GroupFinding>& findings) {
  std::optional<Ns> since;
  for (const GroupFinding& f : findings)
    if (f.kind != Kind::completed) since = lesser(since, f.since);
  return since;
}

}  // namespace

const char* kind_name(Kind kind) {
  constexpr std::array kNames = {"completed",  "not_joined", "left_behind",
                                 "unfinished", "differs",    "unanswered"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<GroupFinding> group_findings(const ProcessGroups& groups) {
  struct Part {
    bool is_quiet;  // nothing is unfinished in it
    Ns since;
    std::vector<GroupFinding> findings;
  };
  std::vector<Part> parts;
  for (size_t g = 0; g < groups.groups().size(); ++g) {
    std::vector<GroupFinding> findings = GroupReader(groups, g).read();
    const bool is_quiet =
        std::ranges::all_of(findings, [](const GroupFinding& f) { return f.kind == Kind::completed; });
    const Ns since = trouble_since(findings).value_or(std::numeric_limits<Ns>::max());
    parts.push_back({is_quiet, since, std::move(findings)});
  }
  stable_sort(parts, [](const Part& a, const Part& b) {
    return std::tie(a.is_quiet, a.since) < std::tie(b.is_quiet, b.since);
  });
  std::vector<GroupFinding> all;
  for (Part& part : parts) std::ranges::move(part.findings, std::back_inserter(all));
  return all;
}

FirstToLook first_to_look_at(const std::vector<GroupFinding>& findings) {
  FirstToLook first;
  std::set<i64> waiting;
  for (const GroupFinding& f : findings) {
    if (!f.inside.empty()) first.unknown.insert(f.without_dump.begin(), f.without_dump.end());
    // They wait for somebody of whom there is no dump.
    if (f.kind == Kind::unfinished && !f.without_dump.empty())
      waiting.insert(f.inside.begin(), f.inside.end());
    if (f.kind == Kind::left_behind) first.left_behind.insert(f.ranks.begin(), f.ranks.end());
    if (f.kind != Kind::not_joined && f.kind != Kind::unanswered) continue;
    waiting.insert(f.inside.begin(), f.inside.end());
    if (!f.inside.empty()) first.absent.insert(f.ranks.begin(), f.ranks.end());
  }
  std::erase_if(first.absent,
                [&](i64 rank) { return waiting.contains(rank) || first.left_behind.contains(rank); });
  return first;
}

}  // namespace spotter::analyze
