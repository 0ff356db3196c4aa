// HistoryWriter: the history (store/) as one who takes batches: with a queue and a thread of its own, as a
// disk may be slow. Any thread.
#pragma once
#include <functional>
#include <memory>

#include "sink/runner.h"
#include "store/history.h"

namespace spotter::api {

class HistoryWriter {
 public:
  // Errors: those of store::History::open(), busy.
  static Result<std::unique_ptr<HistoryWriter>> open(store::HistoryOptions options);

  ~HistoryWriter();

  sink::SinkRunner& runner() { return *runner_; }
  const std::shared_ptr<store::History>& history() const { return history_; }
  void note_capture(store::CaptureNote note);  // written with the next batch
  // For a thread that reads the history: has it written what waits, and waits for that, at most so long. May
  // be called when the writer has gone.
  std::function<void(Ns patience)> catch_up() const;
  SinkState state() const;  // of the queue, with what the history itself has lost

 private:
  struct Shared;
  class HistorySink;
  HistoryWriter() = default;
  std::shared_ptr<store::History> history_;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<sink::SinkRunner> runner_;
};

}  // namespace spotter::api
