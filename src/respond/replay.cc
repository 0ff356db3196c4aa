#include "respond/replay.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/stable_sort.h"
#include "table/ops.h"

namespace spotter::respond {
namespace {

constexpr Ns kGap = 2 * kMinute;  // longer is no coarse sample: the agent was off

std::optional<size_t> column_of(const Table& table, std::string_view name) {
  const auto schema = table.schema();
  const auto it = std::ranges::find_if(schema, [&](const Field& field) { return name == field.name; });
  return it == schema.end() ? std::nullopt : std::optional<size_t>(it - schema.begin());
}

}  // namespace

Replay::Replay(const RulesOptions& options)
    : rules_(options), incidents_({.host = options.host}), settings_(options.settings) {}

void Replay::add(std::span<const Table> tables) {
  std::map<Ns, Batch> batches;
  for (const Table& table : tables) {
    const auto time = column_of(table, "time_ns");
    if (!time) continue;
    std::map<Ns, std::vector<size_t>> rows;
    for (size_t row = 0; row < table.rows(); ++row) {
      const Value at = table.at(row, *time);
      if (const i64* ns = std::get_if<i64>(&at)) rows[*ns].push_back(row);
    }
    for (const auto& [at, of_time] : rows) batches[at].tables.push_back(table::pick(table, of_time));
  }
  for (auto& [at, batch] : batches) {
    batch.unix_ns = at;
    add(std::move(batch));
  }
}

void Replay::add(Batch batch) {
  const Ns at = batch.unix_ns;
  if (first_ == 0) first_ = at;
  for (const Table& table : batch.tables) {
    tables_.insert(table.name());
    // A history has fine samples of late and coarser ones of before.
    Ns& last = last_[table.name()];
    if (table.name() == "step" || table.name() == "gpu") {
      if (last != 0 && at - last > kFine && at - last <= kGap) fine_since_ = 0;
      if (last != 0 && at - last <= kFine && fine_since_ == 0) fine_since_ = at;
    }
    last = at;
  }
  take(rules_.add(batch), at);
  // What lasts is said again, as by the agent.
  for (const Condition& again : rules_.again(at)) take(incidents_.take(again, at), at);
  take(incidents_.pass(at), at);
}

void Replay::take(const std::vector<Condition>& changes, Ns at) {
  for (const Condition& condition : changes) {
    take(incidents_.take(condition, at), at);
    const u64 key = fingerprint(condition);
    const auto open = open_.find(key);
    if (open != open_.end()) {
      if (condition.is_firing) continue;
      found_[open->second].ended = at;
      open_.erase(open);
      continue;
    }
    if (!condition.is_firing) continue;
    if (found_.size() >= kMostFound) {
      ++left_out_;
      continue;
    }
    const std::string key_of_incident = incident_key(IncidentsOptions().cluster, condition);
    const auto all = incidents_.all();  // the newest first
    const auto incident = std::ranges::find(all, key_of_incident, &Incident::key);
    open_[key] = found_.size();
    found_.push_back({.condition = condition, .incident = incident == all.end() ? "" : incident->id()});
  }
}

// Nobody traces what was: it is told as where captures are off.
void Replay::take(const Incidents::Changes& changes, Ns at) {
  for (const IncidentChange& change : changes) {
    const std::string id = change.incident.id();
    if (change.word != Word::none) told_.insert(id);
    if (change.is_gone) {
      for (Occurrence& one : found_)
        if (one.incident == id) one.incident.clear();
    }
    if (!change.wants_evidence) continue;
    if (const auto more = incidents_.conclude(id, {}, at)) take(*more, at);
  }
}

std::vector<Occurrence> Replay::found() const {
  std::vector<Occurrence> all = found_;
  for (Occurrence& one : all) one.is_told = told_.contains(one.incident);
  stable_sort(all,
              [](const Occurrence& a, const Occurrence& b) { return a.condition.since < b.condition.since; });
  return all;
}

std::vector<std::string> Replay::without_samples() const {
  std::vector<std::string> names;
  for (const Rule* rule : all_rules()) {
    const auto said = settings_.find(rule->name);
    const Settings settings = whole_settings(*rule, said == settings_.end() ? Settings() : said->second);
    const bool is_sampled = std::ranges::any_of(
        rule->tables, [&](const char* table) { return tables_.contains(std::string_view(table)); });
    if (settings.at("enabled") != "false" && !is_sampled) names.emplace_back(rule->name);
  }
  return names;
}

}  // namespace spotter::respond
