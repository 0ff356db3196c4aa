// HistoryWriter: the history (store/) as one who takes batches: with a queue and a thread of its own, as a
// disk may be slow. One that cannot be opened is tried again, once a minute at least; until then batches wait
// in the queue as long as it has room, and its state says why. Any thread.
#pragma once
#include <functional>
#include <memory>

#include "agent/telemetry/consumer.h"
#include "sink/runner.h"
#include "store/history.h"

namespace spotter::agent {

class HistoryWriter : public Consumer {
 public:
  // Errors: busy (no thread can be had).
  static Result<std::unique_ptr<HistoryWriter>> open(store::HistoryOptions options);

  ~HistoryWriter() override;

  void offer(const SharedBatch& batch) override { runner_->offer(batch); }
  // Errors: not_found (it cannot be opened; why).
  Result<std::shared_ptr<store::History>> history() const;
  void note_capture(store::CaptureNote note);  // written with the next batch
  // For a thread that reads the history: has it written what waits, and waits for that, at most so long. May
  // be called when the writer has gone.
  std::function<void(Ns patience)> catch_up() const;
  // Of the queue, with what the history itself has lost.
  std::optional<SinkState> state() const override;

 private:
  struct Shared;
  class HistorySink;
  HistoryWriter() = default;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<sink::SinkRunner> runner_;
};

}  // namespace spotter::agent
