#include "analyze/replay/skeleton_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "base/result.h"
#include "trace/trace.h"

namespace spotter::analyze {
namespace {

constexpr std::string_view kOps[] = {"step",  "end",        "last_call", "open_span", "recorded",
                                     "run",   "collective", "wait",      "await",     "sync",
                                     "pause", "compute",    "work"};
static_assert(std::size(kOps) == static_cast<size_t>(SkeletonOp::count_));
constexpr std::string_view kPauses[] = {"",           "silence",     "after_sync", "data_loading",
                                        "allocation", "compilation", "recording",  "copy",
                                        "host_thread"};
static_assert(std::size(kPauses) == static_cast<size_t>(Cause::count_));

enum Column : u8 {
  kOp,
  kCause,
  kName,
  kGroup,
  kStream,
  kTarget,
  kAt,
  kHost,
  kDevice,
  kGap,
  kStart,
  kEnd,
  kCount,
  kNumber,
  kPeer,
  kPoints,
  kHull
};
static_assert(std::size(kSkeletonColumns) == 1 + kHull + 2 * kHullPoints);

i64 number_of(u32 place) { return place == kNone ? -1 : i64{place}; }

size_t place_of(std::span<const std::string_view> names, std::string_view name) {
  return static_cast<size_t>(std::ranges::find(names, name) - names.begin());
}

bool is_time(Ns time) { return time >= -kMaxTime && time <= 2 * kMaxTime; }
bool is_duration(Ns time) { return time >= 0 && time <= kLongestSpan; }

// Sums of some of these do not overflow, and no row waits for one that comes after it.
bool is_possible(const SkeletonRow& row, std::span<const HullPoint> hull, i64 stream, i64 target,
                 i64 rows_before) {
  if (row.op == SkeletonOp::count_ || row.cause == Cause::count_) return false;
  const bool awaits = row.op == SkeletonOp::wait || row.op == SkeletonOp::await;
  const bool is_on_device =
      row.op == SkeletonOp::run || row.op == SkeletonOp::collective || row.op == SkeletonOp::wait;
  constexpr i64 kMostStreams = 1 << 16;
  if (awaits && (target < 0 || target >= rows_before)) return false;
  if (is_on_device && (stream < 0 || stream >= kMostStreams)) return false;
  if (!is_time(row.at) || !is_time(row.start) || !is_time(row.end) || row.end < row.start) return false;
  return is_duration(row.host) && is_duration(row.device) && is_duration(row.gap) && row.count >= 0 &&
         std::ranges::all_of(hull,
                             [](const HullPoint& p) { return is_duration(p.lead) && is_duration(p.rest); });
}

// Only work of a stream has an end to wait for, and a host waits only behind the rows that say for what. How
// many rows are not so; they become pauses of no time.
i64 leave_out_waits(std::vector<SkeletonRow>& rows) {
  i64 left_out = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    SkeletonRow& row = rows[i];
    const bool waits = row.op == SkeletonOp::wait || row.op == SkeletonOp::await;
    const bool is_unfounded =
        waits ? rows[row.target].op != SkeletonOp::run && rows[row.target].op != SkeletonOp::collective
              : row.op == SkeletonOp::sync && (i == 0 || rows[i - 1].op != SkeletonOp::await);
    if (!is_unfounded) continue;
    row = {.op = SkeletonOp::pause};
    ++left_out;
  }
  return left_out;
}

}  // namespace

Table skeleton_table(Skeleton skeleton, const char* name) {
  Table table(name, std::span(kSkeletonColumns).subspan(1));
  table.notes = std::move(skeleton.notes);
  std::array<Value, std::size(kSkeletonColumns) - 1> cells;
  for (const SkeletonRow& row : skeleton.rows) {
    cells = {kOps[static_cast<size_t>(row.op)],
             kPauses[static_cast<size_t>(row.cause)],
             skeleton.strings[row.name],
             skeleton.strings[row.group],
             number_of(row.stream),
             number_of(row.target),
             row.at,
             row.host,
             row.device,
             row.gap,
             row.start,
             row.end,
             row.count,
             row.number,
             row.peer,
             i64{row.points}};
    const std::span<const HullPoint> hull = skeleton.hull_of(row);
    for (size_t i = 0; i < kHullPoints; ++i) {
      cells[kHull + 2 * i] = i < hull.size() ? hull[i].lead : 0;
      cells[kHull + 2 * i + 1] = i < hull.size() ? hull[i].rest : 0;
    }
    table.append(cells);
  }
  return table;
}

Skeleton skeleton_of(const Table& table) {
  Skeleton skeleton;
  skeleton.rows.reserve(table.rows());
  i64 impossible = 0;
  for (size_t r = 0; r < table.rows(); ++r) {
    const auto number = [&](size_t column) { return table.integer(r, column); };
    const i64 stream = number(kStream), target = number(kTarget), points = number(kPoints);
    SkeletonRow row = {.op = static_cast<SkeletonOp>(place_of(kOps, table.text(r, kOp))),
                       .cause = static_cast<Cause>(place_of(kPauses, table.text(r, kCause))),
                       .name = skeleton.strings.intern(table.text(r, kName)),
                       .group = skeleton.strings.intern(table.text(r, kGroup)),
                       .stream = stream < 0 ? kNone : static_cast<u32>(stream),
                       .target = target < 0 ? kNone : static_cast<u32>(target),
                       .at = number(kAt),
                       .host = number(kHost),
                       .device = number(kDevice),
                       .gap = number(kGap),
                       .start = number(kStart),
                       .end = number(kEnd),
                       .count = number(kCount),
                       .number = number(kNumber),
                       .peer = number(kPeer)};
    const bool has_place = points >= 0 && points <= i64{kHullPoints};
    std::array<HullPoint, kHullPoints> pairs;
    std::span<HullPoint> hull = std::span(pairs).first(has_place ? static_cast<size_t>(points) : 0);
    for (size_t i = 0; i < hull.size(); ++i) hull[i] = {number(kHull + 2 * i), number(kHull + 2 * i + 1)};
    // It keeps its place, since others may refer to it.
    if (!has_place || !is_possible(row, hull, stream, target, static_cast<i64>(r))) {
      ++impossible;
      row = {.op = SkeletonOp::pause};
      hull = {};
    }
    skeleton.add(row, hull);
  }
  skeleton.hull.shrink_to_fit();  // it is kept for as long as the job is
  impossible += leave_out_waits(skeleton.rows);
  if (impossible > 0)
    skeleton.notes.add("impossible_row", Severity::loss,
                       "rows of skeletons have impossible values and were left out", -1, impossible);
  return skeleton;
}

}  // namespace spotter::analyze
