#include <algorithm>
#include <cmath>

#include "analyze/recorded_inputs.h"
#include "analyze/tb_plugin/list.h"
#include "analyze/tb_plugin/matched_ranges.h"
#include "base/saturated.h"

namespace spotter::analyze::tb_plugin {
namespace {

const Field kColumns[] = {
    kRankField,
    {"operation", Type::text, Unit::none, Role::key, "Name of the span: nccl:all_reduce."},
    {"calls", Type::integer, Unit::count, Role::value, "Calls."},
    {"bytes", Type::integer, Unit::bytes, Role::value,
     "Sum of what they put in; elements of types that the plugin does not know count nothing."},
    {"mean_bytes", Type::real, Unit::bytes, Role::value, "The same, of a call."},
    {"time_ns", Type::integer, Unit::ns, Role::value, "Time in which any of them runs."},
    {"mean_time_ns", Type::real, Unit::ns, Role::value, "time_ns divided by the calls."},
    {"transfer_ns", Type::integer, Unit::ns, Role::value, "Time in which any of them transfers."},
    {"mean_transfer_ns", Type::real, Unit::ns, Role::value, "transfer_ns divided by the calls."},
};

// One rank's part: a row per range.
const Field kPartColumns[] = {
    {"collective", Type::integer, Unit::none, Role::key, "Which one it is of."},
    {"name", Type::text, Unit::none, Role::key, "Name of the span."},
    {"bytes", Type::integer, Unit::bytes, Role::value, "What the collective puts in."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Duration."},
};
enum Column : u8 { kCollective, kName, kBytes, kStart, kDur };

// 0: it does not know the type (Q16).
i64 bytes_of_element(std::string_view type) {
  struct Size {
    std::string_view type;
    i64 bytes;
  };
  constexpr Size kSizes[] = {{"long int", 8},  {"float", 4},         {"int", 4},
                             {"c10::Half", 2}, {"c10::BFloat16", 2}, {"unsigned char", 1}};
  const auto size = std::ranges::find(kSizes, type, &Size::type);
  return size == std::end(kSizes) ? 0 : size->bytes;
}

i64 bytes_of(const Trace& trace, EventId e) {
  const auto dims = trace.text(e, Arg::input_dims), types = trace.text(e, Arg::input_type);
  const auto inputs = dims && types ? parse_recorded_inputs(*dims, *types, {}) : std::nullopt;
  i64 sum = 0;
  if (inputs)
    for (const RecordedInput& input : *inputs)
      sum = add_saturated(sum, multiply_saturated(input.elements(), bytes_of_element(input.type)));
  return sum;
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kCollectives.name, kPartColumns);
  const Communication communication = communication_of(trace, events_of(trace));
  std::vector<i64> bytes;
  for (const Collective& one : communication.all) bytes.push_back(bytes_of(trace, one.event));
  for_each_range(communication, [&](size_t c, const UsInterval& range) {
    table.append({static_cast<i64>(c), trace.name_of(communication.all[c].event), bytes[c],
                  unix_ns(trace.info().base_ns, range.start), ns_of(range.length())});
  });
  return table;
}

struct Operation {
  std::string_view name;
  i64 calls = 0, bytes = 0, last = -1;  // which collective came last
  std::vector<Interval> times = {}, transfers = {};
};

void append_operations(const RankTable& rank, const std::vector<Range>& ranges, Table& answer) {
  const Table& part = rank.table;
  std::vector<Operation> operations;
  for (const Range& range : ranges) {
    auto own = std::ranges::find(operations, part.text(range.row, kName), &Operation::name);
    if (own == operations.end()) own = operations.insert(own, Operation{.name = part.text(range.row, kName)});
    if (own->last != part.integer(range.row, kCollective)) {
      own->last = part.integer(range.row, kCollective);
      ++own->calls;
      own->bytes = add_saturated(own->bytes, part.integer(range.row, kBytes));
    }
    own->times.push_back(range.time);
    own->transfers.push_back(range.transfer);
  }
  for (Operation& own : operations) {
    const Ns time = length_of(std::move(own.times)), transfer = length_of(std::move(own.transfers));
    const auto mean = [&](i64 sum) { return static_cast<double>(sum) / static_cast<double>(own.calls); };
    answer.append({or_null(rank.rank), own.name, own.calls, own.bytes, mean(own.bytes), time, mean(time),
                   transfer, mean(transfer)});
  }
}

Result<Table> reduce(std::span<const RankTable> tables, const ParamValues&) {
  Table answer(kCollectives.name, kColumns);
  const std::vector<std::vector<Range>> ranges = match_ranges(tables, answer.notes);
  for (size_t part = 0; part < ranges.size(); ++part) append_operations(tables[part], ranges[part], answer);
  return answer;
}

}  // namespace

const Analysis kCollectives = {
    .name = "collectives",
    .summary = "What collectives each rank calls, as the TensorBoard plugin has it.",
    .doc =
        "The table of communication operations of torch-tb-profiler 0.4.3, with its mistakes (docs/tb_plugin.md has the Q-numbers): per rank and name of the span, in order of the first call. Which collectives there are, which of several ranks are one, and what is transfer, are those of comm_steps. Bytes are of the shapes and types of "
        "the span's inputs; elements other than long int, float, int, c10::Half, c10::BFloat16 and unsigned char have none (Q16). Times are unions.",
    .params = {},
    .columns = kColumns,
    .reads = kEventArgs | ArgSet{Arg::input_dims, Arg::input_type},
    .map = map_trace,
    .reduce = reduce,
    .part_columns = kPartColumns,
};

}  // namespace spotter::analyze::tb_plugin
