// Sampler: the caller of the agent's collectors. Each collector is asked at absolute times, a period apart,
// so that lateness does not add up. One thread asks them all, since each further one that wakes costs about
// two samples, and those who may block last; when one hangs, another thread takes the others over, and leaves
// it alone with its own until it has been quick for a while. Times that pass while a sample takes long are
// skipped and counted. Periods begin at whole multiples of Unix time, so that hosts sample together.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "collect/collector.h"

namespace spotter::collect {

struct Wanted {
  const CollectorKind* kind;
  Ns period;
};

class Sampler {
 public:
  // Gets the tables of those collectors that were due at one time and have one period; those who may block
  // are alone in theirs. On a thread of the sampler, one call at a time; must not block.
  using Take = std::function<void(SharedBatch)>;

  // `take` is called until the destructor returns. Surroundings::collectors is set here.
  Sampler(std::vector<Wanted> wanted, Surroundings surroundings, Take take);
  // Waits for samples under way for a second; a collector that hangs longer is left behind, and its tables
  // are dropped.
  ~Sampler();

  std::vector<CollectorState> states() const;  // any thread

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

// When one collector is due.
class Deadlines {
 public:
  explicit Deadlines(Ns period) : period_(period) {}

  // The first time is now; the next one is where Unix time is a multiple of the period, at least half a
  // period from now: the first sample opens files, and takes long.
  void begin(Ns steady_now, Ns unix_now);
  Ns next() const { return next_; }

  bool is_late(Ns steady_now) const;  // by more than a tenth of the period
  // After a sample: on to the next time that has not passed. Returns how many are skipped.
  i64 pass(Ns steady_now);

 private:
  Ns period_, next_ = 0, aligned_ = 0;
};

}  // namespace spotter::collect
