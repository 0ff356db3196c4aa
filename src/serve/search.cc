#include "serve/search.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/text/utf8.h"
#include "table/ops.h"

namespace spotter::serve {
namespace {

constexpr size_t kMostNames = 1000;

constexpr Param kParams[] = {{kSearchWord, "", "what is in the names, in letters of either case"}};
constexpr Field kColumns[] = {
    whole({"name", Type::text, Unit::none, Role::key, "A name that has the word in it."}),
    {"count", Type::integer, Unit::count, Role::value, "Spans of this name, of all ranks."},
    {"sum_ns", Type::integer, Unit::ns, Role::value, "Their durations together."},
    {"rank", Type::integer, Unit::none, Role::detail, "Rank of the first one."},
    {"event", Type::integer, Unit::none, Role::detail,
     "Its position in the traceEvents of that rank's file."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Its start, Unix time."},
};
constexpr Field kPartColumns[] = {
    {"name", Type::text, Unit::none, Role::key, "A name that has the word in it."},
    {"count", Type::integer, Unit::count, Role::value, "Spans of this name."},
    {"sum_ns", Type::integer, Unit::ns, Role::value, "Their durations together."},
    {"event", Type::integer, Unit::none, Role::value, "The first one's position in the file."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Its start, Unix time."},
};

struct Hits {
  i64 count = 0;
  Ns sum = 0;
  std::optional<i64> rank;
  i64 event = 0;
  Ns start = 0;
};

Result<Table> map(const Trace& trace, const ParamValues& params) {
  const std::string word = ascii_lower(params.text(kSearchWord));
  std::vector<i8> matches(trace.strings().size(), -1);  // -1: not looked at yet
  std::map<StringId, Hits> hits;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!trace.is_span(e)) continue;
    i8& is_match = matches[trace.name[e]];
    if (is_match < 0) is_match = ascii_lower(trace.name_of(e)).find(word) != std::string::npos;
    if (!is_match) continue;
    Hits& of = hits[trace.name[e]];
    if (of.count == 0 || trace.ts[e] < of.start) of.event = static_cast<i64>(e), of.start = trace.ts[e];
    of.count += 1;
    of.sum += trace.dur[e];
  }
  Table table("search", kPartColumns);
  for (const auto& [name, of] : hits)
    table.append({trace.strings()[name], of.count, of.sum, of.event, trace.info().base_ns + of.start});
  return table;
}

Result<Table> reduce(std::span<const RankTable> tables, const ParamValues&) {
  std::map<std::string, Hits, std::less<>> all;
  for (const RankTable& part : tables) {
    for (size_t row = 0; row < part.table.rows(); ++row) {
      Hits& of = all[std::string(part.table.text(row, 0))];
      const Ns start = part.table.integer(row, 4);
      if (of.count == 0 || start < of.start) {
        of.rank = part.rank;
        of.event = part.table.integer(row, 3);
        of.start = start;
      }
      of.count += part.table.integer(row, 1);
      of.sum += part.table.integer(row, 2);
    }
  }
  std::vector<const std::pair<const std::string, Hits>*> order;
  for (const auto& entry : all) order.push_back(&entry);
  std::ranges::sort(order, {}, [](const auto* entry) {
    return std::pair(-entry->second.sum, std::string_view(entry->first));
  });
  Table table("search", kColumns);
  for (const auto* entry : std::span(order).first(std::min(order.size(), kMostNames))) {
    const auto& [name, of] = *entry;
    table.append({name, of.count, of.sum, or_null(of.rank), of.event, of.start});
  }
  if (order.size() > kMostNames)
    table.notes.add("left_out", Severity::info, "more names match: those of the most time are listed", -1,
                    static_cast<i64>(order.size() - kMostNames));
  return table;
}

}  // namespace

const Analysis kSearch = {
    .name = "search",
    .summary = "Names that have a word in them.",
    .doc = "Names of spans that have the word in them, over all ranks, most time first.",
    .params = kParams,
    .columns = kColumns,
    .reads = {},
    .map = map,
    .reduce = reduce,
    .part_columns = kPartColumns,
    .on_request = true};

}  // namespace spotter::serve
