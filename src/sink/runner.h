// SinkRunner: a sink's queue and thread. Whoever offers batches never waits: a full queue loses its oldest
// batch, and counts it. What cannot be delivered now is tried again, with pauses that double and are not the
// same on all hosts.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "sink/choice.h"

namespace spotter::sink {

struct RunnerOptions {
  std::string name;  // in the state, and of the thread
  ChoiceOptions choice = {};
  // What waits at most. Bytes are an estimate of what the batches take; sinks share them.
  size_t most_batches = 600;
  size_t most_bytes = size_t{8} << 20;
  // How long the first of what waits waits for more, for a sink that nobody reads from at once: a thread that
  // is woken costs more than what it has to do with one batch.
  Ns gather = 0;
  Ns first_pause = 500'000'000, longest_pause = 30'000'000'000;
  Ns longest_wish = 300'000'000'000;  // of the other side, for a pause
  Ns last_time = 3'000'000'000;       // at the end, for what waits then
};

class SinkRunner {
 public:
  // Errors: busy (no thread can be had).
  static Result<std::unique_ptr<SinkRunner>> start(std::unique_ptr<Sink> sink, RunnerOptions options);
  // Gives what waits `last_time` to arrive, and says in the log what did not. A sink that hangs even after
  // that is left behind with its thread.
  ~SinkRunner();
  SinkRunner(const SinkRunner&) = delete;
  SinkRunner& operator=(const SinkRunner&) = delete;

  void offer(const SharedBatch& batch);  // any thread; never waits for the sink
  // For a thread that reads what the sink keeps: has what waits delivered at once, and waits for that, at
  // most so long. May be called when the runner has gone.
  std::function<void(Ns patience)> catch_up() const;
  // What waits has `last_time` from now on. For who ends several: the destructors then wait together.
  void begin_end();
  SinkState state() const;  // any thread

 private:
  struct Body;
  explicit SinkRunner(std::shared_ptr<Body> body) : body_(std::move(body)) {}
  std::shared_ptr<Body> body_;
};

}  // namespace spotter::sink
