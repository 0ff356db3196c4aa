// Where communication waits, on a page: for whom, in which collectives, and how long each rank.
#include <fmt/format.h>

#include <algorithm>

#include "report/list.h"
#include "table/ops.h"

namespace spotter::report {
namespace {

constexpr size_t kMostWaits = 10;

Bars waits_by_rank(const Table& steps) {
  Bars bars{.title = "Time in collectives, by rank",
            .series = {{"transfer", "communication"}, {"waiting for others", "idle"}},
            .rows = {}};
  const Table sums = table::sum_by(steps, {"rank"}, {"transfer_ns", "wait_ns"});
  for (size_t row = 0; row < sums.rows(); ++row)
    bars.rows.push_back({fmt::format("{}", sums.integer(row, 0)),
                         {std::max<i64>(0, sums.integer(row, 1)), std::max<i64>(0, sums.integer(row, 2))}});
  return bars;
}

std::vector<Part> wait_parts(const Subject& subject) {
  std::vector<Part> parts;
  if (const Table* steps = find_table(subject, "comm_steps")) parts.emplace_back(waits_by_rank(*steps));
  if (const Table* late = find_table(subject, "stragglers"))
    parts.emplace_back(table::head(table::project(*late, {"rank", "collectives", "last_ratio",
                                                          "caused_wait_ns", "own_wait_ns", "median_late_ns"}),
                                   kMostWaits));
  if (const Table* collectives = find_table(subject, "collectives"))
    parts.emplace_back(table::head(table::project(table::sort(*collectives, {{"time_ns", true}}),
                                                  {"group", "operation", "dtype", "size_bytes", "calls",
                                                   "time_ns", "transfer_ns", "wait_ns", "bus_bytes_per_s"}),
                                   kMostWaits));
  return parts;
}

}  // namespace

const Section kCommunicationWaits = {
    .name = "communication",
    .is_shown =
        [](const Subject& s) {
          return find_table(s, "comm_steps") || find_table(s, "stragglers") || find_table(s, "collectives");
        },
    .title = [](const Subject&) { return std::string("Where communication waits"); },
    .parts = wait_parts,
    .sentence = "last: how often a rank comes last. caused wait: how long the others wait for it then.",
};

}  // namespace spotter::report
