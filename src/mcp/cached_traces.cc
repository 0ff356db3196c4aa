#include "mcp/cached_traces.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "analyze/list.h"
#include "base/parallel_for.h"
#include "base/text/shell_word.h"
#include "diagnose/diagnose.h"
#include "mcp/times.h"

namespace spotter::mcp {
namespace {

constexpr i64 kMostCells = 32'000'000;  // of tables that are kept: half a gigabyte
constexpr size_t kMostFindings = 4'096;
constexpr const char* kUsual = "usual";

diagnose::Request request_of(const Capture& capture, const Patience& patience) {
  diagnose::Request request{.paths = shell_paths(capture.paths)};
  request.run.cancelled = patience.cancelled;
  request.run.on_progress = patience.progress;
  request.run.threads = all_processors();
  return request;
}

i64 cells_of(const Table& table) { return static_cast<i64>(table.rows() * table.columns()); }

// What a table is kept by: its analysis, and the parameters that are not the usual ones.
std::string key_of(const WantedTable& wanted) {
  std::string key = wanted.analysis->name;
  for (const auto& [name, value] : wanted.params)
    key += fmt::format(" {}={}", name, std::visit([](const auto& v) { return fmt::format("{}", v); }, value));
  return key;
}

Table with_notes(Table table, const Notes& notes) {
  table.notes.merge(notes);
  return table;
}

// Ranks of which there is no trace, which nothing of an answer is about.
void note_untraced(const diagnose::JobFacts& facts, Table& findings) {
  i64 world = 0;
  std::set<i64> traced;
  for (const diagnose::RankFacts& rank : facts.ranks) {
    world = std::max(world, rank.world_size.value_or(0));
    if (rank.rank) traced.insert(*rank.rank);
  }
  const i64 missing = world - static_cast<i64>(traced.size());
  if (missing > 0 && !traced.empty())
    findings.notes.add("ranks_untraced", Severity::info,
                       fmt::format("{} of {} ranks were not traced", missing, world));
}

}  // namespace

Error without_names(const Error& error) {
  if (error.code == Code::cancelled) return error;
  const auto what = [&]() -> std::string_view {
    switch (error.code) {
      case Code::not_found:
        return "there is no trace file, or one has gone";
      case Code::invalid:
        return "its trace files contradict one another";
      case Code::corrupt:
        return "a trace file is damaged";
      case Code::unsupported:
        return "a trace file is of a kind that is not read";
      case Code::denied:
        return "a trace file may not be read";
      case Code::busy:
        return "too many analyses are under way; ask again in some seconds";
      default:
        return "a trace file cannot be read";
    }
  }();
  return {error.code,
          fmt::format("the capture cannot be analysed: {}; `spotter analyze` of its folder, on a terminal, "
                      "says which file and why",
                      what)};
}

CachedTraces::CachedTraces(size_t most_kept)
    : tables_(most_kept, kMostCells), findings_(kMostFindings, kMostCells), diffs_(1, kMostCells) {}

bool CachedTraces::has_findings(const Capture& capture) {
  return findings_.find(capture, diagnose::kFindings) != nullptr;
}

// Errors: cancelled.
Result<CachedTraces::Turn> CachedTraces::turn_to_read(const Patience& patience) {
  Turn turn(reading_, std::defer_lock);
  while (!turn.try_lock_for(std::chrono::nanoseconds(kLook)))
    if (patience.cancelled && *patience.cancelled)
      return fail(Code::cancelled, "other traces were read meanwhile");
  return turn;
}

// The findings, and every analysis that is not made on request alone.
Result<void> CachedTraces::read_usual(const Capture& capture, const Patience& patience) {
  diagnose::Request request = request_of(capture, patience);
  request.findings = true;
  for (const Analysis* analysis : analyze::all_analyses())
    if (!analysis->on_request) request.run.analyses.push_back(analysis);
  TRY_ASSIGN(diagnose::Diagnosis made, diagnose(capture, std::move(request)));
  Tables tables;
  i64 cells = 0;
  for (Table& table : made.tables) {
    cells += cells_of(table);
    const std::string name = table.name();
    tables.emplace(name, with_notes(std::move(table), made.notes));
  }
  note_untraced(made.facts, *made.findings);
  Table findings = with_notes(std::move(*made.findings), diagnose::notes_beside_findings(made.notes));
  const i64 weight = cells_of(findings);
  findings_.keep(capture, diagnose::kFindings, std::make_shared<const Table>(std::move(findings)), weight);
  tables_.keep(capture, kUsual, std::make_shared<const Tables>(std::move(tables)), cells);
  return {};
}

Result<Table> CachedTraces::table(const Capture& capture, const WantedTable& wanted,
                                  const Patience& patience) {
  const bool is_usual = !wanted.analysis || (!wanted.analysis->on_request && wanted.params.empty());
  const auto known = [&]() -> std::optional<Table> {
    if (!wanted.analysis) {
      const auto findings = findings_.find(capture, diagnose::kFindings);
      return findings ? std::optional(*findings) : std::nullopt;
    }
    const TablesPtr tables = tables_.find(capture, is_usual ? kUsual : key_of(wanted));
    return tables ? std::optional(tables->at(wanted.analysis->name)) : std::nullopt;
  };
  if (auto table = known()) return std::move(*table);
  TRY_ASSIGN(const Turn turn, turn_to_read(patience));
  if (auto table = known()) return std::move(*table);  // somebody else has asked for it
  if (!is_usual) return made(capture, wanted, patience);
  TRY(read_usual(capture, patience));
  return *known();
}

Result<Table> CachedTraces::made(const Capture& capture, const WantedTable& wanted,
                                 const Patience& patience) {
  diagnose::Request request = request_of(capture, patience);
  request.run.analyses = {wanted.analysis};
  request.run.params = wanted.params;
  TRY_ASSIGN(diagnose::Diagnosis made, diagnose(capture, std::move(request)));
  Table table = with_notes(std::move(made.tables[0]), made.notes);
  const i64 weight = cells_of(table);
  tables_.keep(capture, key_of(wanted),
               std::make_shared<const Tables>(Tables{{wanted.analysis->name, table}}), weight);
  return table;
}

Result<std::shared_ptr<const diagnose::Diff>> CachedTraces::diff(const Capture& before, const Capture& after,
                                                                 const Patience& patience) {
  const std::string against = fmt::format("against {} {}", before.id, before.version);
  if (auto known = diffs_.find(after, against)) return known;
  TRY_ASSIGN(const Turn turn, turn_to_read(patience));
  if (auto known = diffs_.find(after, against)) return known;
  diagnose::DiffRequest request;
  request.run.cancelled = patience.cancelled;
  request.run.threads = all_processors();
  TRY_ASSIGN(diagnose::Diff made, compare(before, after, std::move(request)));
  auto diff = std::make_shared<const diagnose::Diff>(std::move(made));
  diffs_.keep(after, against, diff, cells_of(diff->table));
  return diff;
}

}  // namespace spotter::mcp
