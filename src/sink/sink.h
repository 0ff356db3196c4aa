// Sink: where batches go to: a file, a server. It knows nothing of queues and waiting (runner.h does). To add
// one: a file here with a SinkKind, its name in list.h, a test.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "table/batch.h"

namespace spotter::sink {

// A batch, and which of its tables the sink is to take.
struct Share {
  SharedBatch batch;
  std::vector<const Table*> tables;  // of the batch, in its order; at least one
  size_t memory_bytes = 0;           // of the batch, about
};

// What became of the first `batches` of those that a sink was handed.
struct Delivery {
  size_t batches = 1;
  // io, busy: they have not arrived and may do so later, so they are kept and tried again. Any other error is
  // for good: they are dropped.
  Result<void> result = {};
  Ns pause = 0;      // with an error: how long the other side wants to be left alone; 0: it did not say
  i64 rejected = 0;  // without one: values of the batches that the other side would not have
  std::string rejected_why = {};  // in its words
};

inline bool is_tried_again(const Error& error) { return error.code == Code::io || error.code == Code::busy; }

class Sink {
 public:
  virtual ~Sink() = default;
  // Delivers as many as go well together, in order and from the first on. Blocks; always on one thread. The
  // same shares may come again after an error, and older ones may be missing then.
  virtual Delivery deliver(std::span<const Share> shares) = 0;
  // From another thread: deliver() is to return soon, now and from now on.
  virtual void interrupt() {}
};

}  // namespace spotter::sink
