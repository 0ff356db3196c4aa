#include "analyze/communication/matching.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>

namespace spotter::analyze {
namespace {

// Runs of one group, name and sequence number.
auto pool_of(const Run& run) { return std::tuple(run.group, run.name, run.sequence); }

// Numbers the collectives of a pool, which is sorted by start, from `first` on; returns how many there are.
size_t number_collectives(std::span<Run> pool, size_t first) {
  std::vector<Ns> first_end;                        // per collective
  std::unordered_map<size_t, size_t> next_of_part;  // the first collective that can take its next run
  size_t open = 0;                                  // those before have ended
  for (Run& run : pool) {
    size_t& at = next_of_part[run.part];
    if (run.sequence == kNoSequence) {
      while (open < first_end.size() && first_end[open] < run.start) ++open;
      at = std::max(at, open);
      while (at < first_end.size() && first_end[at] < run.start) ++at;
    }
    if (at == first_end.size()) first_end.push_back(run.end);
    first_end[at] = std::min(first_end[at], run.end);
    run.collective = first + at++;
  }
  return first_end.size();
}

template <class Key>
void sort_by(std::vector<Run>& runs, Key key) {
  std::sort(runs.begin(), runs.end(), [&](const Run& a, const Run& b) {
    return std::tuple(key(a), a.start, a.part) < std::tuple(key(b), b.start, b.part);
  });
}

// As traces are held to it, so that no end and no difference of two times overflows.
bool is_possible(Ns start, Ns dur) {
  return start >= -kMaxTime && start <= 2 * kMaxTime && dur >= 0 && dur <= kMaxTime;
}

}  // namespace

std::vector<Run> runs_of(std::span<const RankTable> tables, Notes& notes,
                         bool (*is_run)(const Table& table, size_t row)) {
  std::vector<Run> runs;
  std::unordered_map<std::string_view, u32> ids;
  const auto id = [&](std::string_view text) {
    return ids.try_emplace(text, static_cast<u32>(ids.size())).first->second;
  };
  i64 without_rank = 0, impossible = 0;
  for (size_t part = 0; part < tables.size(); ++part) {
    const Table& t = tables[part].table;
    const size_t group = t.column("group"), name = t.column("name"), number = t.column("sequence"),
                 start_column = t.column("start_ns"), dur_column = t.column("dur_ns");
    bool has_any = false;
    for (size_t row = 0; row < t.rows(); ++row) {
      if (is_run && !is_run(t, row)) continue;
      has_any = true;
      if (!tables[part].rank) break;
      const Ns start = t.integer(row, start_column), dur = t.integer(row, dur_column);
      if (!is_possible(start, dur)) {
        ++impossible;
        continue;
      }
      const i64 sequence = std::max(t.integer(row, number), kNoSequence);
      runs.push_back(
          {id(t.text(row, group)), id(t.text(row, name)), sequence, part, row, start, start + dur, 0});
    }
    without_rank += has_any && !tables[part].rank ? 1 : 0;
  }
  if (without_rank > 0)
    notes.add("no_rank", Severity::loss, "files have collectives but no rank and were left out", -1,
              without_rank);
  if (impossible > 0)
    notes.add("impossible_collective", Severity::loss, "collectives have impossible times and were left out",
              -1, impossible);
  return runs;
}

void match(std::vector<Run>& runs) {
  sort_by(runs, pool_of);
  size_t collectives = 0;
  for (auto begin = runs.begin(); begin != runs.end();) {
    const auto end =
        std::find_if(begin, runs.end(), [&](const Run& run) { return pool_of(run) != pool_of(*begin); });
    collectives += number_collectives({begin, end}, collectives);
    begin = end;
  }
  sort_by(runs, [](const Run& run) { return run.collective; });
}

std::vector<std::span<const Run>> collectives_of(std::span<const Run> runs) {
  std::vector<std::span<const Run>> collectives;
  for (size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
    while (end < runs.size() && runs[end].collective == runs[begin].collective) ++end;
    collectives.push_back(runs.subspan(begin, end - begin));
  }
  return collectives;
}

Presence presence_of(std::span<const Run> collective, i64 group_size) {
  const auto runs = static_cast<i64>(collective.size());
  if (group_size > 0 && runs > group_size) return Presence::mixed;
  if (runs == 1 && group_size != 1) return Presence::one;
  return runs < group_size ? Presence::some : Presence::all;
}

void Presences::note(std::span<const Run> runs, Notes& notes) const {
  const bool is_one_rank =
      std::ranges::all_of(runs, [&](const Run& run) { return run.part == runs.front().part; });
  if (of(Presence::one) > 0 && is_one_rank)
    notes.add("one_rank", Severity::info,
              "how long collectives wait and how long they transfer takes the traces of their other ranks");
  else if (of(Presence::one) > 0)
    notes.add("unmatched_collectives", Severity::info,
              "collectives were found on one rank only; how long they waited and transferred is not known",
              -1, of(Presence::one));
  if (of(Presence::mixed) > 0)
    notes.add(
        "mixed_groups", Severity::loss,
        "collectives may be of several groups, which traces of PyTorch before 2.4 do not name; how long "
        "they waited and transferred is not known",
        -1, of(Presence::mixed));
  if (of(Presence::some) > 0)
    notes.add("missing_members", Severity::loss,
              "collectives have ranks whose traces are not here; time in which all others waited for such a "
              "one counts as transfer",
              -1, of(Presence::some));
}

void note_apart(std::span<const std::span<const Run>> collectives, std::string_view see, Notes& notes) {
  const i64 apart = std::ranges::count_if(collectives, [](std::span<const Run> collective) {
    return std::ranges::any_of(collective, [&](const Run& run) { return run.end < collective.back().start; });
  });
  if (apart > 0)
    notes.add("collectives_apart", Severity::info,
              fmt::format("collectives had ended on one rank before they began on another: the clocks of "
                          "their hosts may differ, see {}",
                          see),
              -1, apart);
}

}  // namespace spotter::analyze
