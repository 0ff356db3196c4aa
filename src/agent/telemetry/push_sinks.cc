// The push sinks of the configuration (sink/list.h), each with its queue and thread.
#include "agent/telemetry/consumers.h"
#include "agent/telemetry/table_kinds.h"
#include "agent/telemetry/telemetry_options.h"
#include "sink/list.h"

namespace spotter::agent {
namespace {

class PushSink : public Consumer {
 public:
  explicit PushSink(std::unique_ptr<sink::SinkRunner> runner) : runner_(std::move(runner)) {}
  void offer(const SharedBatch& batch) override { runner_->offer(batch); }
  std::optional<SinkState> state() const override { return runner_->state(); }
  void begin_end() override { runner_->begin_end(); }

 private:
  std::unique_ptr<sink::SinkRunner> runner_;
};

std::vector<std::string> unbounded_tables() {
  std::vector<std::string> names;
  for (const table::TableKind* kind : all_table_kinds()) {
    if (kind->is_unbounded) names.emplace_back(kind->name);
  }
  return names;
}

Result<std::vector<std::unique_ptr<Consumer>>> open_sinks(const ConsumerSite& site) {
  const sink::Surroundings surroundings{site.host, site.host_name, unbounded_tables()};
  std::vector<std::unique_ptr<Consumer>> sinks;
  for (const SinkOptions& options : site.options.sinks) {
    TRY_ASSIGN(auto runner, sink::start_sink(options.kind, options.settings, surroundings));
    sinks.push_back(std::make_unique<PushSink>(std::move(runner)));
  }
  return sinks;
}

}  // namespace

const ConsumerKind kPushSinks = {.open = open_sinks};

}  // namespace spotter::agent
