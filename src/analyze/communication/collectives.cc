#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "analyze/communication/collective_message.h"
#include "analyze/communication/collective_names.h"
#include "analyze/communication/matching.h"
#include "analyze/list.h"
#include "base/saturated.h"
#include "base/stable_sort.h"
#include "trace/devices.h"
#include "trace/facts/collective_marks.h"
#include "trace/facts/device_peaks.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    {"group", Type::text, Unit::none, Role::key,
     "Name of the group of processes, else its ranks, else the stream that it works on, else the backend."},
    {"operation", Type::text, Unit::none, Role::key,
     "all_reduce, all_gather, reduce_scatter ..., else the name of the kernel."},
    {"dtype", Type::text, Unit::none, Role::key,
     "Type of the elements; empty where the trace does not say it."},
    {"size_bytes", Type::integer, Unit::bytes, Role::value,
     "Size of the message: the larger of what a rank puts in and what it gets; null where it is not known."},
    {"calls", Type::integer, Unit::count, Role::value, "Calls, of all ranks together."},
    {"bus_bytes_per_s", Type::real, Unit::bytes_per_s, Role::value,
     "Bus bandwidth: what crosses each rank's link while it transfers; null without size, transfer or group's size."},
    {"transfer_ns", Type::integer, Unit::ns, Role::value,
     "Sum of the calls' times from the last rank's start on; null where no other rank is known, as all that is told of ranks together."},
    {"wait_ns", Type::integer, Unit::ns, Role::value, "Sum of their times before it."},
    {"time_ns", Type::integer, Unit::ns, Role::value,
     "Sum of the calls' durations; null where only their launches were recorded."},
    {"mean_skew_ns", Type::real, Unit::ns, Role::value,
     "Mean over the collectives of the last rank's start minus the first one's."},
    {"max_skew_ns", Type::integer, Unit::ns, Role::detail, "Largest of these."},
    {"algorithm_bytes_per_s", Type::real, Unit::bytes_per_s, Role::value,
     "size_bytes divided by the mean transfer of a call."},
    {"link_ratio", Type::real, Unit::ratio, Role::value,
     "bus_bytes_per_s divided by what the devices' own links (NVLink, Infinity Fabric) do in one direction; null as that, and for devices without such links or whose links are not known."},
    {"group_size", Type::integer, Unit::count, Role::value,
     "Ranks in the group; null where the trace does not say it."},
    {"ranks", Type::integer, Unit::count, Role::detail, "Ranks of the files that have such calls."},
    {"matched_calls", Type::integer, Unit::count, Role::detail,
     "Calls that transfer_ns and wait_ns are of: another rank's call of the same collective is known."},
    {"bytes", Type::integer, Unit::bytes, Role::detail, "size_bytes of all calls together."},
    {"description", Type::text, Unit::none, Role::detail, "What the program calls the group."},
    {"group_ranks", Type::text, Unit::none, Role::detail, "The group's ranks, as the trace has them."},
};

constexpr i64 kNoBytes = -1;

// One rank's part: a row per call.
const Field kPartColumns[] = {
    {"group", Type::text, Unit::none, Role::key,
     "Name and ranks of the group, else the stream; may be empty."},
    {"name", Type::text, Unit::none, Role::key, "Name of the collective, its annotation or its kernel."},
    {"sequence", Type::integer, Unit::none, Role::key, "Number of the collective in its group, or -1."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Duration."},
    {"is_timed", Type::flag, Unit::none, Role::value, "Whether the duration is known."},
    {"dtype", Type::text, Unit::none, Role::value, "Type of the elements; may be empty."},
    {"size_bytes", Type::integer, Unit::bytes, Role::value, "Size of the message, or -1."},
    {"group_size", Type::integer, Unit::count, Role::value, "Ranks in the group, or 0."},
    {"group_name", Type::text, Unit::none, Role::value, "Name of the group."},
    {"group_ranks", Type::text, Unit::none, Role::value, "Ranks of the group; may be empty."},
    {"description", Type::text, Unit::none, Role::value, "Description of the group; may be empty."},
    {"link_bytes_per_s", Type::real, Unit::bytes_per_s, Role::value,
     "Of the device's own link in one direction, or 0."},
};
enum Part : u8 {
  kGroup,
  kName,
  kSequence,
  kStart,
  kDur,
  kIsTimed,
  kType,
  kSize,
  kGroupSize,
  kGroupName,
  kGroupRanks,
  kDescription,
  kLink
};

// An argument of the kernel, else of the operator that launched it; may be empty.
std::string told(const Trace& trace, const CollectiveCall& call, Arg arg) {
  for (const EventId e : {call.kernel, call.record}) {
    if (e == kNone) continue;
    if (const auto text = trace.text(e, arg); text && !text->empty()) return std::string(*text);
    if (const auto number = trace.integer(e, arg)) return std::to_string(*number);
  }
  return {};
}

std::string group_name_of(const Trace& trace, const CollectiveCall& call) {
  if (call.kernel == kNone) return std::string(trace::backend_of_mark(call.name).name);
  for (const Arg arg : {Arg::group_name, Arg::group_ranks})
    if (std::string name = told(trace, call, arg); !name.empty()) return name;
  return call.group;
}

// In one direction; 0: not known.
double link_of(const Trace& trace, const CollectiveCall& call) {
  if (call.kernel == kNone) return 0;
  const i64 id =
      trace.integer(call.kernel, Arg::device).value_or(trace.tracks()[trace.track[call.kernel]].pid);
  const Device* device = trace::device_of(trace.info().devices, id);
  const trace::DevicePeaks* peaks = device ? trace::peaks_of(*device) : nullptr;
  return peaks ? peaks->link_gbs / 2 * 1e9 : 0;
}

void note_calls(const Table& table, i64 untimed, i64 untold, i64 unknown_type, Notes& notes) {
  if (table.rows() == 0)
    notes.add("no_collectives", Severity::info, "traces without collectives have no row here");
  if (untimed > 0)
    notes.add("untimed_collectives", Severity::info,
              "collectives have a launch but no kernel in the trace, so that their time is not known: record "
              "the device's activities, too",
              -1, untimed);
  if (untold > 0)
    notes.add(
        "untold_sizes", Severity::info,
        "collectives do not say what they move: those of PyTorch's process groups do from 2.2 on, before "
        "that with record_shapes",
        -1, untold);
  if (unknown_type > 0)
    notes.add("unknown_element_type", Severity::info,
              "collectives have elements of a type whose size is not known here, so that theirs is not "
              "either",
              -1, unknown_type);
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kCollectives.name, kPartColumns);
  const CollectiveCalls found = collective_calls(trace);
  i64 untimed = 0, untold = 0, unknown_type = 0;
  for (const CollectiveCall& call : found.calls) {
    const CollectiveMessage message = message_of(trace, call);
    const std::optional<i64> size = measured_bytes(message, operation_of(call.name));
    const std::string group = group_name_of(trace, call), ranks = told(trace, call, Arg::group_ranks),
                      description = told(trace, call, Arg::group_desc);
    table.append({call.group, call.name, call.sequence, trace.info().base_ns + call.start,
                  call.end - call.start, call.is_timed, message.type, size.value_or(kNoBytes), message.ranks,
                  group, ranks, description, link_of(trace, call)});
    untimed += call.is_timed ? 0 : 1;
    unknown_type += message.is_of_unknown_type ? 1 : 0;
    untold += !size && !message.is_of_unknown_type ? 1 : 0;
  }
  note_calls(table, untimed, untold, unknown_type, table.notes);
  note_unclear(found, table.notes);
  return table;
}

// A row of the answer.
struct Row {
  std::string_view group = {}, operation = {}, type = {};
  i64 size = kNoBytes, group_size = 0;
  double link = 0;  // of all calls; 0: not known, or not the same
  std::string_view group_name = {}, group_ranks = {}, description = {};
  i64 calls = 0, timed = 0, matched = 0, ranks = 0, collectives = 0;
  Ns time = 0, transfer = 0, wait = 0, skew = 0, max_skew = 0;
  size_t last_part = SIZE_MAX, last_collective = SIZE_MAX;  // that it has counted
};

struct Rows {
  std::vector<Row> rows;
  std::vector<std::vector<u32>> of_call;  // [part][row of the part]
  Row& of(const Run& run) { return rows[of_call[run.part][run.row]]; }
};

class Operations {
 public:
  std::string_view of(std::string_view name) {
    const auto [known, is_new] = by_name_.try_emplace(name);
    if (is_new) known->second = operation_of(name);
    return known->second;
  }

 private:
  std::unordered_map<std::string_view, std::string> by_name_;
};

// Those of files that have a rank, by what tells them apart.
Rows rows_of(std::span<const RankTable> tables, Operations& operations) {
  Rows rows;
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, i64, i64>;
  std::map<Key, u32> places;
  for (size_t part = 0; part < tables.size(); ++part) {
    const Table& t = tables[part].table;
    std::vector<u32>& of_call = rows.of_call.emplace_back();
    if (!tables[part].rank) continue;
    for (size_t r = 0; r < t.rows(); ++r) {
      Row row{
          .group = t.text(r, kGroup), .operation = operations.of(t.text(r, kName)), .type = t.text(r, kType)};
      row.size = std::max(t.integer(r, kSize), kNoBytes);
      row.group_size = std::max<i64>(t.integer(r, kGroupSize), 0);
      const Key key(row.group, row.operation, row.type, row.size, row.group_size);
      const auto [place, is_new] = places.try_emplace(key, static_cast<u32>(rows.rows.size()));
      of_call.push_back(place->second);
      if (is_new) {
        row.group_name = t.text(r, kGroupName);
        row.group_ranks = t.text(r, kGroupRanks);
        row.description = t.text(r, kDescription);
        row.link = t.real(r, kLink);
        rows.rows.push_back(row);
      }
      Row& all = rows.rows[place->second];
      ++all.calls;
      if (t.real(r, kLink) != all.link) all.link = 0;
      all.ranks += all.last_part == part ? 0 : 1;
      all.last_part = part;
    }
  }
  return rows;
}

void add_collective(std::span<const Run> collective, Rows& rows) {
  const Ns last_start = collective.back().start, skew = last_start - collective.front().start;
  for (const Run& run : collective) {
    Row& row = rows.of(run);
    const Ns begin = transfer_start(run, last_start);
    ++row.matched;
    row.transfer = add_saturated(row.transfer, run.end - begin);
    row.wait = add_saturated(row.wait, begin - run.start);
    // Once, also where several of its calls have one size: those of an all-to-all need not.
    if (row.last_collective == run.collective) continue;
    row.last_collective = run.collective;
    ++row.collectives;
    row.skew = add_saturated(row.skew, skew);
    row.max_skew = std::max(row.max_skew, skew);
  }
}

void add_times(std::span<const Run> runs, Rows& rows, Notes& notes) {
  for (const Run& run : runs) {
    Row& row = rows.of(run);
    ++row.timed;
    row.time = add_saturated(row.time, run.end - run.start);
  }
  const std::vector<std::span<const Run>> collectives = collectives_of(runs);
  Presences presences;
  for (const std::span<const Run> collective : collectives) {
    const Presence presence = presence_of(collective, rows.of(collective.front()).group_size);
    presences.add(presence);
    if (can_tell_last(presence)) add_collective(collective, rows);
  }
  presences.note(runs, notes);
  note_apart(collectives, "max_skew_ns", notes);
}

Value known_or_null(i64 number, bool is_known) { return is_known ? Value(number) : Value(); }

void append(Table& answer, const Row& row) {
  constexpr double kNsPerSecond = 1e9;
  const bool has_size = row.size != kNoBytes, is_matched = row.matched > 0;
  std::optional<double> algorithm, bus;
  if (row.size > 0 && is_matched && row.transfer > 0)
    algorithm = static_cast<double>(row.size) * static_cast<double>(row.matched) /
                static_cast<double>(row.transfer) * kNsPerSecond;
  if (const auto factor = bus_factor(row.operation, row.group_size); factor && algorithm)
    bus = *algorithm * *factor;
  i64 bytes = 0;
  if (__builtin_mul_overflow(row.size, row.calls, &bytes)) bytes = std::numeric_limits<i64>::max();
  answer.append({row.group_name, row.operation, row.type, known_or_null(row.size, has_size), row.calls,
                 or_null(bus), known_or_null(row.transfer, is_matched), known_or_null(row.wait, is_matched),
                 known_or_null(row.time, row.timed > 0),
                 row.collectives > 0
                     ? Value(static_cast<double>(row.skew) / static_cast<double>(row.collectives))
                     : Value(),
                 known_or_null(row.max_skew, row.collectives > 0), or_null(algorithm),
                 bus && row.link > 0 ? Value(*bus / row.link) : Value(),
                 known_or_null(row.group_size, row.group_size > 0), row.ranks, row.matched,
                 known_or_null(bytes, has_size), or_null(row.description), or_null(row.group_ranks)});
}

bool is_timed(const Table& part, size_t row) { return std::get<bool>(part.at(row, kIsTimed)); }

Result<Table> reduce(std::span<const RankTable> tables, const ParamValues&) {
  Table answer(kCollectives.name, kColumns);
  Operations operations;
  Rows rows = rows_of(tables, operations);
  std::vector<Run> runs = runs_of(tables, answer.notes, is_timed);
  match(runs);
  add_times(runs, rows, answer.notes);
  stable_sort(rows.rows, [](const Row& a, const Row& b) {
    if (a.time != b.time) return a.time > b.time;
    return std::tuple(a.group, a.operation, a.type, a.size) <
           std::tuple(b.group, b.operation, b.type, b.size);
  });
  for (const Row& row : rows.rows) append(answer, row);
  return answer;
}

}  // namespace

const Analysis kCollectives = {
    .name = "collectives",
    .summary = "What each kind of collective moves, how fast, and how long ranks wait in it for each other.",
    .doc =
        "Collectives are the communication kernels of a rank or, where it has none, its spans of backends that work on the "
        "host (gloo:..., mpi:...). A span of nccl:... on the host lasts as long as the launch: where its kernel was not recorded "
        "it is a call without time. Sends and receives are left out. Calls of one group, operation, type of elements "
        "and size are one row. What is moved is told by the kernel's arguments, else by those of the operator record_param_comms that "
        "launched it, else by the shapes of the inputs of its annotation. The size of a message is the larger of what a rank "
        "puts in and what it gets: what each rank has in an all-reduce or a broadcast, what all have together in an all-gather "
        "or a reduce-scatter. Calls of two or more ranks are one collective as in stragglers. All of its ranks transfer from the last one's start "
        "on, to their own ends; before, they wait, at most for their own duration. skew is the last start minus the first. Algorithm bandwidth is "
        "size_bytes x matched_calls / transfer_ns. Bus bandwidth is that times the share of the message that crosses each rank's link, of n "
        "ranks: 2 (n - 1) / n for all_reduce; (n - 1) / n for all_gather, reduce_scatter, all_to_all, gather and scatter; 1 for broadcast and "
        "reduce (nccl-tests, doc/PERFORMANCE.md; its GB/s are 10^9 bytes a second). link_ratio holds the bus bandwidth against the data sheet's bandwidth of the device's own links (docs/flops.md), "
        "of which half is one direction; a group across hosts is bound by their network, and stays far below. Where the clocks of hosts differ, the difference is part of every start. "
        "Sorted by time_ns, most first. The TensorBoard profiler plugin (torch-tb-profiler 0.4.3) matches by order alone, knows five operations, and "
        "takes each collective's shortest rank for its transfer.",
    .params = {},
    .columns = kColumns,
    .reads = kCollectiveMessageArgs | ArgSet{Arg::group_desc},
    .map = map_trace,
    .reduce = reduce,
    .part_columns = kPartColumns,
};

}  // namespace spotter::analyze
