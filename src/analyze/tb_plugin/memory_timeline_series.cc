#include <algorithm>
#include <cmath>

#include "analyze/tb_plugin/list.h"
#include "analyze/tb_plugin/memory.h"

namespace spotter::analyze::tb_plugin {
namespace {

const Field kColumns[] = {
    kRankField,
    kPlaceFields[0],
    kPlaceFields[1],
    {"time_ns", Type::integer, Unit::ns, Role::time, "Of the point, Unix time."},
    {"allocated_bytes", Type::integer, Unit::bytes, Role::value, "In use."},
    {"reserved_bytes", Type::integer, Unit::bytes, Role::value, "Held by the allocator, used or not."},
};

constexpr size_t kMostPoints = 10'240;

using Points = std::vector<CurvePoint>;

// Before each point but the first one its time with the values before it.
Points stairs_of(const Points& points) {
  Points stairs;
  for (const CurvePoint& point : points) {
    if (!stairs.empty()) stairs.push_back({point.time, stairs.back().allocated, stairs.back().reserved});
    stairs.push_back(point);
  }
  return stairs;
}

// In the units that it draws, which decide between triangles that are all but equal.
struct Place {
  double ms = 0, mb = 0;
};
constexpr double kMsOfUs = 0.001, kMbOfByte = 1.0 / (1 << 20);

Place centre_of(std::span<const Place> places) {
  Place sum;
  for (const Place& place : places) sum = {sum.ms + place.ms, sum.mb + place.mb};
  const auto count = static_cast<double>(places.size());
  return {sum.ms / count, sum.mb / count};
}

double area(const Place& a, const Place& b, const Place& c) {
  return std::abs((a.ms - c.ms) * (b.mb - a.mb) - (a.ms - b.ms) * (c.mb - a.mb)) / 2;
}

// Largest triangle, three buckets (Steinarsson, 2013): the first and the last point, and between them one of
// each of equal groups, of which the first ones have one more.
Points thinned(Points points, Us start) {
  if (points.size() <= kMostPoints) return points;
  std::vector<Place> places;
  for (const CurvePoint& p : points)
    places.push_back({(p.time - start) * kMsOfUs, static_cast<double>(p.allocated) * kMbOfByte});
  const std::span all(places);
  const size_t groups = kMostPoints - 2, size = (points.size() - 2) / groups,
               larger = (points.size() - 2) % groups;
  const auto begin_of = [&](size_t group) { return 1 + group * size + std::min(group, larger); };
  std::vector<size_t> left = {0};
  for (size_t g = 0; g < groups; ++g) {
    const size_t begin = begin_of(g), end = begin_of(g + 1),
                 behind = g + 1 < groups ? begin_of(g + 2) : points.size();
    const Place before = places[left.back()], centre = centre_of(all.subspan(end, behind - end));
    const auto largest = std::ranges::max_element(all.subspan(begin, end - begin), {},
                                                  [&](const Place& p) { return area(before, p, centre); });
    left.push_back(static_cast<size_t>(&*largest - places.data()));
  }
  left.push_back(points.size() - 1);
  Points thin;
  for (const size_t i : left) thin.push_back(points[i]);
  return thin;
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kMemoryTimelineSeries.name, std::span(kColumns).subspan(1));
  const Events events = events_of(trace);
  for (const auto& [place, points] : curves_of(records_of(trace, events, table.notes)))
    for (const CurvePoint& point : thinned(stairs_of(points), events.start))
      table.append({place.type(), place.id, unix_ns(trace.info().base_ns, point.time), point.allocated,
                    point.reserved});
  return table;
}

}  // namespace

const Analysis kMemoryTimelineSeries = {
    .name = "memory_timeline_series",
    .summary = "The memory in use and reserved over time, as the TensorBoard plugin draws it.",
    .doc =
        "The memory curves of torch-tb-profiler 0.4.3, as stairs: each event is a point, before which the values before it are repeated. Of more than 10,240 points per device so many stay: the first, the last, and of each of equal groups between them the one that makes the largest triangle "
        "of times and bytes in use with the point before it and the centre of the next group. Only events with an address and with both of the allocator's totals count, and only those of CPU and CUDA (Q8). The plugin "
        "shows MB of 2^20 bytes, and ms since the first event of any kind.",
    .params = {},
    .columns = kColumns,
    .reads = kEventArgs | kMemoryArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze::tb_plugin
