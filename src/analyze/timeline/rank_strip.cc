#include <algorithm>
#include <array>
#include <map>

#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/time/device_time.h"
#include "analyze/time/intervals.h"
#include "trace/extent.h"
#include "trace/nesting.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"time_ns", Type::integer, Unit::ns, Role::time, "Start of the bucket, Unix time."},
    {"bucket_ns", Type::integer, Unit::ns, Role::detail, "Its length, the same in all rows: a power of two."},
    {"busy_ratio", Type::real, Unit::ratio, Role::value, "Part of the bucket in which a device works."},
    {"compute_ratio", Type::real, Unit::ratio, Role::value, "Part in which kernels compute."},
    {"communication_ratio", Type::real, Unit::ratio, Role::value, "Part in which kernels communicate."},
    {"memory_ratio", Type::real, Unit::ratio, Role::value, "Part in which a device copies or sets memory."},
    {"host_ratio", Type::real, Unit::ratio, Role::value, "Part in which a host thread is in an operator."},
};

const Field kPartColumns[] = {
    {"time_ns", Type::integer, Unit::ns, Role::time, "Start of the bucket, Unix time."},
    {"bucket_ns", Type::integer, Unit::ns, Role::key, "Its length: a power of two."},
    {"busy_ns", Type::integer, Unit::ns, Role::value, "Time in which a device works."},
    {"compute_ns", Type::integer, Unit::ns, Role::value, "Time in which kernels compute."},
    {"communication_ns", Type::integer, Unit::ns, Role::value, "Time in which kernels communicate."},
    {"memory_ns", Type::integer, Unit::ns, Role::value, "Time in which a device copies or sets memory."},
    {"host_ns", Type::integer, Unit::ns, Role::value, "Time in which a host thread is in an operator."},
};

constexpr i64 kMostBuckets = 2'000;  // of a job

enum Kind : u8 { kBusy, kCompute, kCommunication, kMemory, kHost, kKinds };
using Times = std::array<Ns, kKinds>;
using Strip = std::map<i64, Times>;  // by number of the bucket since 1970

i64 bucket_of(Ns time, Ns width) { return time >= 0 ? time / width : -((width - 1 - time) / width); }

// The shortest power of two by which [start, end] is in so many buckets or less.
Ns width_of(Ns start, Ns end) {
  Ns width = 1;
  while (bucket_of(end, width) - bucket_of(start, width) >= kMostBuckets) width *= 2;
  return width;
}

std::array<Union, kKinds> unions_of(const Trace& trace) {
  LineUnions<kKinds> lines;
  const trace::DeviceWork& work = trace.device_work();
  for (const trace::Stream& stream : work.streams) {
    lines.next_line();
    for (u32 row = stream.begin; row < stream.end; ++row) {
      lines.add(kBusy, work.start[row], work.end[row]);
      lines.add(kCompute + static_cast<size_t>(work.kind[row]), work.start[row], work.end[row]);
    }
  }
  const trace::Nesting& nesting = trace.nesting();
  for (const trace::Nesting::Thread& thread : nesting.threads) {
    lines.next_line();
    for (u32 i = thread.begin; i < thread.end; ++i) {
      const EventId e = nesting.order[i];
      if (trace.category(e) == Category::cpu_op) lines.add(kHost, trace.ts[e], trace.end(e));
    }
  }
  return std::move(lines).united();
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  static_assert(kCompute + static_cast<size_t>(trace::WorkKind::communication) == kCommunication &&
                kCompute + static_cast<size_t>(trace::WorkKind::memory) == kMemory);
  Table table(kRankStrip.name, kPartColumns);
  const std::array<Union, kKinds> unions = unions_of(trace);
  const Ns base = trace.info().base_ns;
  Interval all{kMaxTime * 2, -kMaxTime * 2};
  for (const Union& u : unions) {
    if (u.empty()) continue;
    all.start = std::min(all.start, base + u.front().start);
    all.end = std::max(all.end, base + u.back().end);
  }
  if (all.start >= all.end) {
    table.notes.add("no_rank_strip", Severity::info,
                    "traces without device work and operators have no rows here");
    return table;
  }
  const Ns width = width_of(all.start, all.end);
  Strip strip;
  for (size_t kind = 0; kind < kKinds; ++kind) {
    for (const Interval& interval : unions[kind]) {
      for (Ns at = base + interval.start; at < base + interval.end;) {
        const i64 bucket = bucket_of(at, width);
        const Ns end = std::min(base + interval.end, (bucket + 1) * width);
        strip[bucket][kind] += end - at;
        at = end;
      }
    }
  }
  for (const auto& [bucket, times] : strip)
    table.append({bucket * width, width, times[kBusy], times[kCompute], times[kCommunication], times[kMemory],
                  times[kHost]});
  return table;
}

Result<Table> reduce(std::span<const RankTable> tables, const ParamValues&) {
  Table answer(kRankStrip.name, kColumns);
  Ns first = kMaxTime * 2, last = -kMaxTime * 2, width = 1;
  for (const RankTable& t : tables) {
    if (t.table.rows() == 0) continue;
    first = std::min(first, t.table.integer(0, 0));
    last = std::max(last, t.table.integer(t.table.rows() - 1, 0));
    width = std::max(width, t.table.integer(0, 1));
  }
  if (first <= last) width = std::max(width, width_of(first, last));
  for (const RankTable& t : tables) {
    Strip strip;
    for (size_t row = 0; row < t.table.rows(); ++row) {
      Times& times = strip[bucket_of(t.table.integer(row, 0), width)];
      for (size_t kind = 0; kind < kKinds; ++kind) times[kind] += t.table.integer(row, 2 + kind);
    }
    for (const auto& [bucket, times] : strip)
      answer.append({or_null(t.rank), bucket * width, width, ratio(times[kBusy], width),
                     ratio(times[kCompute], width), ratio(times[kCommunication], width),
                     ratio(times[kMemory], width), ratio(times[kHost], width)});
  }
  return answer;
}

}  // namespace

const Analysis kRankStrip = {
    .name = "rank_strip",
    .summary = "Each rank as one line: how busy it was, by kind of work, in up to 2,000 buckets of time.",
    .doc =
        "The time is cut into buckets that are the same for all ranks of the job: multiples, since 1970, of the shortest power of two of nanoseconds with which the job "
        "has at most 2,000, and so of the same borders for any set of ranks. One row per rank and bucket in which something runs: the part of the bucket that kernels, copies and sets cover together "
        "(busy), compute kernels, communication kernels, copies and sets, each on any device and stream, and operators on any host thread; these may overlap.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
    .reduce = reduce,
    .part_columns = kPartColumns,
    .on_request = true,
};

}  // namespace spotter::analyze
