#include "agent/telemetry/telemetry.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "agent/helper.h"
#include "agent/telemetry/consumers.h"
#include "agent/telemetry/newest_tables.h"
#include "collect/logs/logged_steps.h"
#include "table/rates.h"

namespace spotter::agent {
namespace {

constexpr Ns kCatchUp = kSecond;  // what waits for the history is read, too

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

Telemetry::Telemetry(TelemetrySite site)
    : site_(std::move(site)), newest_(site_.host), queries_(site_.loop) {}

Telemetry::~Telemetry() {
  sampler_.reset();
  for (const auto& consumer : others_) consumer->begin_end();
}

Result<void> Telemetry::begin(const TelemetryOptions& options) {
  TRY(open_consumers(options));
  collect::Surroundings surroundings{site_.host, site_.identities, options.per_core};
  surroundings.dcgm_address = options.dcgm_address;
  surroundings.textfile_directory = options.textfile_directory;
  surroundings.dcgm_embedded = options.dcgm_embedded;
  surroundings.step_logs = options.step_logs;
  surroundings.step_lines = options.step_lines;
  surroundings.logged_steps = std::make_shared<collect::LoggedStepsBoard>();
  surroundings.profiling_pause = site_.profiling_pause;
  if (!site_.helper.empty() && geteuid() != 0)
    surroundings.probe_opener = [helper = site_.helper](i64 thread, const collect::TorchStep& step) {
      return ask_for_probe(helper, thread, step);
    };
  surroundings.consumers = [this] { return consumers(); };
  surroundings.notifiers = site_.notifiers;
  surroundings.incidents = site_.incidents;
  surroundings.automatic_captures = site_.automatic_captures;
  has_begun_ = true;
  sampler_ = std::make_unique<collect::Sampler>(options.collectors, std::move(surroundings),
                                                [this](const SharedBatch& batch) { offer(batch); });
  return {};
}

Result<void> Telemetry::open_consumers(const TelemetryOptions& options) {
  for (const ConsumerKind* kind : all_consumers()) {
    TRY_ASSIGN(auto opened, kind->open({site_.host, site_.host_name, options}));
    std::ranges::move(opened, std::back_inserter(others_));
  }
  if (options.collectors.empty()) {
    no_history_ = "nothing is measured: the agent was begun with --collect off";
  } else if (!options.history) {
    no_history_ = "this agent keeps no history: it was begun with --history off";
  } else {
    TRY_ASSIGN(history_, HistoryWriter::open(*options.history));
  }
  consumers_.push_back(&newest_);
  if (history_) consumers_.push_back(history_.get());
  for (const auto& other : others_) consumers_.push_back(other.get());
  consumers_.insert(consumers_.end(), site_.consumers.begin(), site_.consumers.end());
  return {};
}

void Telemetry::offer(const SharedBatch& batch) {
  for (Consumer* consumer : consumers_) consumer->offer(batch);
}

void Telemetry::answer(const wire::MetricsQuery& query, Asker asker) {
  const Ns now = site_.host.unix_now();
  if (query.since == 0) {
    asker.make(newest_tables(latest(), now, query));
    return asker.done();
  }
  ask_history([query, now](store::History& history) { return read_history(history, query, now); },
              std::move(asker));
}

void Telemetry::ask_history(std::function<Tables(store::History&)> read, Asker asker) {
  if (!history_) return Queries::refuse(asker, {Code::not_found, no_history_});
  const auto history = history_->history();
  if (!history) return Queries::refuse(asker, history.error());
  queries_.ask(
      [history = *history, catch_up = history_->catch_up(), read = std::move(read)] {
        catch_up(kCatchUp);
        return read(*history);
      },
      std::move(asker));
}

void Telemetry::answer(store::CatalogueTable which, Asker asker) {
  const auto read = [which](const store::History& history) -> Tables {
    TRY_ASSIGN(Table table, store::read_catalogue(history.path(), which));
    return std::vector{std::move(table)};
  };
  ask_history(read, std::move(asker));
}

void Telemetry::note_capture(store::CaptureNote note) {
  if (history_) history_->note_capture(std::move(note));
}

std::vector<collect::CollectorState> Telemetry::collectors() const {
  return sampler_ ? sampler_->states() : std::vector<collect::CollectorState>();
}

std::vector<SinkState> Telemetry::consumers() const {
  std::vector<SinkState> states;
  for (const Consumer* consumer : consumers_) {
    if (auto state = consumer->state()) states.push_back(std::move(*state));
  }
  return states;
}

}  // namespace spotter::agent
