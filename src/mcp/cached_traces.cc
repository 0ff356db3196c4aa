#include "mcp/cached_traces.h"

#include <algorithm>
#include <set>

#include "analyze/list.h"
#include "base/parallel_for.h"
#include "base/text/shell_word.h"
#include "diagnose/diagnose.h"

namespace spotter::mcp {
namespace {

constexpr i64 kMostCells = 32'000'000;  // of what is kept: half a gigabyte

std::string key_of(const Capture& capture) { return fmt::format("{}|{}", capture.id, capture.version); }

diagnose::Request request_of(const Capture& capture, const Patience& patience) {
  diagnose::Request request{.paths = shell_paths(capture.paths)};
  request.run.cancelled = patience.cancelled;
  request.run.on_progress = patience.progress;
  request.run.threads = all_processors();
  return request;
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

CachedTraces::TablesPtr CachedTraces::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find(kept_, key, &std::pair<std::string, TablesPtr>::first);
  if (it == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, it);
  return it->second;
}

void CachedTraces::keep(const std::string& key, TablesPtr tables) {
  const std::lock_guard lock(mutex_);
  // What the capture was before it changed is asked for no more.
  const std::string id = key.substr(0, key.find('|') + 1), now = key.substr(0, key.find('|', id.size()));
  std::erase_if(kept_,
                [&](const auto& one) { return one.first.starts_with(id) && !one.first.starts_with(now); });
  kept_.emplace_front(key, std::move(tables));
  i64 cells = 0;
  size_t fits = 0;
  for (const auto& [name, one] : kept_) {
    for (const auto& [table, rows] : *one) cells += static_cast<i64>(rows.rows() * rows.columns());
    if (fits > 0 && (cells > kMostCells || fits == most_kept_)) break;
    ++fits;
  }
  kept_.resize(fits);
}

bool CachedTraces::has_findings(const Capture& capture) { return find(key_of(capture)) != nullptr; }

// The findings, and every analysis that is not made on request alone.
Result<CachedTraces::TablesPtr> CachedTraces::usual(const Capture& capture, const Patience& patience) {
  const std::lock_guard lock(reading_);
  if (TablesPtr known = find(key_of(capture))) return known;
  diagnose::Request request = request_of(capture, patience);
  request.findings = true;
  for (const Analysis* analysis : analyze::all_analyses())
    if (!analysis->on_request) request.run.analyses.push_back(analysis);
  TRY_ASSIGN(diagnose::Diagnosis made, diagnose(capture, std::move(request)));
  Tables tables;
  for (Table& table : made.tables) {
    const std::string name = table.name();
    tables.emplace(name, with_notes(std::move(table), made.notes));
  }
  note_untraced(made.facts, *made.findings);
  tables.emplace(diagnose::kFindings,
                 with_notes(std::move(*made.findings), diagnose::notes_beside_findings(made.notes)));
  auto all = std::make_shared<const Tables>(std::move(tables));
  keep(key_of(capture), all);
  return all;
}

Result<Table> CachedTraces::table(const Capture& capture, const WantedTable& wanted,
                                  const Patience& patience) {
  const bool is_usual = !wanted.analysis || (!wanted.analysis->on_request && wanted.params.empty());
  if (is_usual) {
    TRY_ASSIGN(const TablesPtr tables, usual(capture, patience));
    return tables->at(wanted.analysis ? wanted.analysis->name : diagnose::kFindings);
  }
  const std::string key = fmt::format("{}|{}", key_of(capture), wanted.analysis->name);
  const std::lock_guard lock(reading_);
  TablesPtr known = wanted.params.empty() ? find(key) : nullptr;
  if (!known) {
    diagnose::Request request = request_of(capture, patience);
    request.run.analyses = {wanted.analysis};
    request.run.params = wanted.params;
    TRY_ASSIGN(diagnose::Diagnosis made, diagnose(capture, std::move(request)));
    Tables tables;
    tables.emplace(wanted.analysis->name, with_notes(std::move(made.tables[0]), made.notes));
    known = std::make_shared<const Tables>(std::move(tables));
    if (wanted.params.empty()) keep(key, known);
  }
  return known->at(wanted.analysis->name);
}

Result<std::shared_ptr<const diagnose::Diff>> CachedTraces::diff(const Capture& before, const Capture& after,
                                                                 const Patience& patience) {
  const std::string key = key_of(before) + "|" + key_of(after);
  const std::lock_guard lock(reading_);
  if (diff_.first == key && diff_.second) return diff_.second;
  diagnose::DiffRequest request;
  request.run.cancelled = patience.cancelled;
  request.run.threads = all_processors();
  TRY_ASSIGN(diagnose::Diff made, compare(before, after, std::move(request)));
  diff_ = {key, std::make_shared<const diagnose::Diff>(std::move(made))};
  return diff_.second;
}

}  // namespace spotter::mcp
