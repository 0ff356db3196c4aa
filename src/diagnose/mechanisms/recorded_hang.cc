#include "diagnose/mechanisms/recorded_hang.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/range_text.h"
#include "diagnose/mechanisms/words.h"

namespace spotter::diagnose {
namespace {

using analyze::FirstToLook;
using analyze::FlightRecords;
using analyze::GroupFinding;
using Kind = GroupFinding::Kind;
using Ranks = std::set<i64>;

bool meet(const Ranks& a, const Ranks& b) {
  return std::ranges::any_of(a, [&](i64 rank) { return b.contains(rank); });
}

// The first finding of that kind about some of these ranks.
const GroupFinding* first_of(const FlightRecords& records, Kind kind, Ranks GroupFinding::* whom,
                             const Ranks& ranks) {
  const auto found = std::ranges::find_if(records.findings, [&](const GroupFinding& f) {
    return f.kind == kind && !f.inside.empty() && meet(f.*whom, ranks);
  });
  return found == records.findings.end() ? nullptr : &*found;
}

std::string group_name(const FlightRecords& records, const GroupFinding& f) {
  const analyze::ProcessGroup& group = records.groups.groups()[f.group];
  return group.description.empty() || group.description == group.name
             ? group.name
             : fmt::format("{} ({})", group.name, group.description);
}

std::string who(const Ranks& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "Rank" : "Ranks", analyze::range_text(ranks));
}

std::string waiting(const Ranks& ranks) {
  return fmt::format("{} rank{} wait{}", ranks.size(), ranks.size() == 1 ? "" : "s",
                     ranks.size() == 1 ? "s" : "");
}

std::string call_of(const FlightRecords& records, const GroupFinding& f) {
  const std::string operation = f.form ? records.groups.form(*f.form).operation : "collective";
  return fmt::format("{} {} of group {}", operation, f.sequence, group_name(records, f));
}

RecordedHang hang(const FlightRecords& records, const GroupFinding& f, const Ranks& ranks, std::string what) {
  return {.ranks = ranks,
          .group = records.groups.groups()[f.group].name,
          .operation = f.form ? records.groups.form(*f.form).operation : "",
          .what = std::move(what)};
}

}  // namespace

std::optional<RecordedHang> recorded_hang(const FlightRecords& records) {
  const FirstToLook look = analyze::first_to_look_at(records.findings);
  Ranks culprits = look.left_behind;
  culprits.insert(look.absent.begin(), look.absent.end());
  const GroupFinding* missing = first_of(records, Kind::not_joined, &GroupFinding::ranks, culprits);
  if (look.left_behind.size() > 0 && missing) {
    const GroupFinding* behind =
        first_of(records, Kind::left_behind, &GroupFinding::inside, look.left_behind);
    return hang(
        records, *behind, look.left_behind,
        fmt::format("{} {} in calls that others have ended, the first of them {}: a device or its driver "
                    "hangs; {} for a call that does not come",
                    who(look.left_behind), look.left_behind.size() == 1 ? "is" : "are",
                    call_of(records, *behind), waiting(missing->inside)));
  }
  if (missing)
    return hang(records, *missing, look.absent,
                fmt::format("{} never called {}; {} in it", who(look.absent), call_of(records, *missing),
                            waiting(missing->inside)));
  if (const GroupFinding* unanswered = first_of(records, Kind::unanswered, &GroupFinding::ranks, look.absent))
    return hang(records, *unanswered, look.absent,
                fmt::format("{} never sent what others receive ({}); {} for it", who(look.absent),
                            unanswered->detail, waiting(unanswered->inside)));
  const GroupFinding* lost = first_of(records, Kind::unfinished, &GroupFinding::without_dump, look.unknown);
  // Where most dumps are missing somebody has left them out.
  if (!lost || lost->inside.size() <= lost->without_dump.size()) return std::nullopt;
  RecordedHang found =
      hang(records, *lost, lost->without_dump,
           fmt::format("Of {} there is no dump, and {} in {}", lower_first(who(lost->without_dump)),
                       waiting(lost->inside), call_of(records, *lost)));
  found.has_no_dump = true;
  return found;
}

}  // namespace spotter::diagnose
