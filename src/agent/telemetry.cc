#include "agent/telemetry.h"

#include <algorithm>
#include <thread>

#include "base/log.h"
#include "collect/list.h"
#include "collect/process/identities.h"
#include "table/ops.h"
#include "table/rates.h"

namespace spotter::agent {
namespace {

constexpr size_t kMostQueries = 2;  // at a time; each may read the whole history
constexpr Ns kCatchUp = 1'000'000'000;

std::vector<std::string> unbounded_tables() {
  std::vector<std::string> names;
  for (const collect::CollectorKind* kind : collect::all_collectors()) {
    for (const collect::TableKind& table : kind->tables) {
      if (table.is_unbounded) names.emplace_back(table.name);
    }
  }
  return names;
}

Result<std::vector<Table>> read_history(store::History& history, const wire::MetricsQuery& query,
                                        Ns unix_now) {
  store::HistoryQuery wanted;
  wanted.from_unix_ns = unix_now - query.since;
  wanted.to_unix_ns = unix_now - query.until + (query.until == 0 ? 1 : 0);
  wanted.selection = query.selection;
  wanted.step = query.step;
  TRY_ASSIGN(std::vector<Table> tables, store::query(history, wanted));
  if (query.rates) std::ranges::transform(tables, tables.begin(), table::rates);
  return tables;
}

}  // namespace

std::vector<collect::Wanted> usual_collectors() {
  std::vector<collect::Wanted> usual;
  for (const collect::CollectorKind* kind : collect::all_collectors()) {
    if (kind->is_on) usual.push_back({kind, kind->period});
  }
  return usual;
}

Telemetry::Telemetry(net::Loop& loop, Host host)
    : loop_(loop), host_(std::move(host)), identities_(std::make_shared<collect::Identities>(host_)) {}

Telemetry::~Telemetry() {
  sampler_.reset();
  for (const auto& sink : sinks_) sink->begin_end();
}

Result<std::unique_ptr<Telemetry>> Telemetry::open(net::Loop& loop, TelemetryOptions options, Host host,
                                                   const std::string& host_name) {
  std::unique_ptr<Telemetry> telemetry(new Telemetry(loop, std::move(host)));
  Telemetry& t = *telemetry;
  const sink::Surroundings of_sinks{t.host_, host_name, unbounded_tables()};
  for (const SinkOptions& s : options.sinks) {
    TRY_ASSIGN(t.sinks_.emplace_back(), sink::start_sink(s.kind, s.settings, of_sinks));
  }
  if (options.collectors.empty()) {
    t.no_history_ = "nothing is measured: the agent was begun with --collect off";
  } else if (!options.history) {
    t.no_history_ = "this agent keeps no history: it was begun with --history off";
  } else {
    TRY_ASSIGN(t.history_, HistoryWriter::open(*options.history));
  }
  collect::Surroundings surroundings{t.host_, t.identities_, options.per_core};
  surroundings.dcgm_address = options.dcgm_address;
  surroundings.dcgm_embedded = options.dcgm_embedded;
  surroundings.profiling_pause = t.profiling_pause_;
  surroundings.consumers = [&t] { return t.consumers(); };
  t.sampler_ = std::make_unique<collect::Sampler>(std::move(options.collectors), std::move(surroundings),
                                                  [&t](const SharedBatch& batch) { t.offer(batch); });
  return telemetry;
}

void Telemetry::offer(const SharedBatch& batch) {
  {
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < batch->tables.size(); ++i) newest_of(batch->tables[i], batch->by) = {batch, i};
  }
  if (history_) history_->runner().offer(batch);
  for (const auto& sink : sinks_) sink->offer(batch);
}

// Tables come in the same order each time, mostly: the one that is sought is the next one.
Telemetry::Part& Telemetry::newest_of(const Table& table, const std::string& by) {
  for (size_t steps = 0; steps < newest_.size(); ++steps) {
    Part& part = newest_[next_part_++ % newest_.size()];
    if (part.table().name() == table.name() && part.batch->by == by) return part;
  }
  next_part_ = 0;
  return newest_.emplace_back();
}

// Two collectors may have rows of one table: the GPUs of two makers.
std::vector<SharedBatch> Telemetry::latest() const {
  std::vector<SharedBatch> batches, joined;
  const Ns now = host_.unix_now();
  {
    std::lock_guard lock(mutex_);
    std::map<std::string_view, Parts> by_table;
    for (const Part& part : newest_) by_table[part.table().name()].push_back(part);
    for (auto& [name, parts] : by_table) {
      if (parts.size() > 1) {
        std::ranges::sort(parts, {}, [](const Part& part) { return std::string_view(part.batch->by); });
        joined.push_back(join(parts, now));
      } else if (const SharedBatch& batch = parts[0].batch;
                 std::ranges::find(batches, batch) == batches.end()) {
        batches.push_back(batch);
      }
    }
  }
  std::ranges::sort(batches, std::greater(), [](const SharedBatch& batch) { return batch->unix_ns; });
  batches.insert(batches.begin(), joined.begin(), joined.end());
  return batches;
}

// Of those that are not stale; of the newest alone, where their columns differ.
SharedBatch Telemetry::join(const Parts& parts, Ns unix_now) {
  const Part& newest =
      *std::ranges::max_element(parts, {}, [](const Part& part) { return part.batch->unix_ns; });
  auto joined = std::make_shared<Batch>();
  joined->unix_ns = newest.batch->unix_ns;
  joined->period_ns = newest.batch->period_ns;
  Table& table = joined->tables.emplace_back(newest.table());
  for (const Part& part : parts) {
    if (part.batch != newest.batch && !is_stale(*part.batch, unix_now) &&
        part.table().columns() == table.columns())
      table::append(table, part.table());
  }
  return joined;
}

void Telemetry::answer(const wire::MetricsQuery& query, Asker asker) {
  const Ns now = host_.unix_now();
  if (query.since == 0) {
    asker.make(wire::newest_tables(latest(), now, query));
    return asker.done();
  }
  ask_history([query, now](store::History& history) { return read_history(history, query, now); },
              std::move(asker));
}

void Telemetry::answer(store::CatalogueTable which, Asker asker) {
  const auto read = [which](const store::History& history) -> Tables {
    TRY_ASSIGN(Table table, store::read_catalogue(history.path(), which));
    return std::vector{std::move(table)};
  };
  ask_history(read, std::move(asker));
}

// The disk may be slow: not on the loop's thread. Who asked is known on that thread alone, and is not told
// once it has gone.
void Telemetry::ask_history(Read read, Asker asker) {
  const auto refuse = [&asker](const tl::unexpected<Error>& why) {
    asker.make(why);
    asker.done();
  };
  if (!history_) return refuse(fail(Code::not_found, "{}", no_history_));
  const auto history = history_->history();
  if (!history) return refuse(tl::unexpected(history.error()));
  if (queries_->size() >= kMostQueries)
    return refuse(fail(Code::busy, "{} queries are under way; try again", kMostQueries));
  const u64 number = next_query_++;
  try {
    std::thread([history = *history, catch_up = history_->catch_up(), read = std::move(read),
                 make = asker.make, post = loop_.poster(), number, queries = std::weak_ptr(queries_)] {
      catch_up(kCatchUp);
      make(read(*history));
      post([number, queries] {
        if (const auto all = queries.lock()) all->extract(number).mapped()();
      });
    }).detach();
  } catch (const std::system_error&) {
    return refuse(fail(Code::busy, "no thread can be had; try again"));
  }
  queries_->emplace(number, std::move(asker.done));
}

void Telemetry::note_capture(store::CaptureNote note) {
  if (history_) history_->note_capture(std::move(note));
}

std::vector<collect::CollectorState> Telemetry::collectors() const { return sampler_->states(); }

std::vector<SinkState> Telemetry::consumers() const {
  std::vector<SinkState> states;
  if (history_) states.push_back(history_->state());
  for (const auto& sink : sinks_) states.push_back(sink->state());
  return states;
}

}  // namespace spotter::agent
