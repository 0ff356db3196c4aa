#include "api/history_writer.h"

#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace spotter::api {
namespace {

constexpr Ns kGather = 5'000'000'000;
constexpr size_t kMostBatches = 240, kMostBytes = size_t{4} << 20, kMostCaptures = 1024;

}  // namespace

// What is between the loop's thread and that of the history, which may hang with its disk.
struct HistoryWriter::Shared {
  std::mutex mutex;
  std::vector<store::CaptureNote> captures;
  i64 lost_captures = 0;
  store::HistoryState state;

  void write_captures(store::History& history) {
    std::vector<store::CaptureNote> waiting, failed;
    {
      std::lock_guard lock(mutex);
      waiting = std::exchange(captures, {});
    }
    for (store::CaptureNote& capture : waiting) {
      if (!history.note_capture(capture)) failed.push_back(std::move(capture));
    }
    const store::HistoryState now = history.state();
    std::lock_guard lock(mutex);
    captures.insert(captures.begin(), failed.begin(), failed.end());
    state = now;
  }
};

class HistoryWriter::HistorySink : public sink::Sink {
 public:
  HistorySink(std::shared_ptr<store::History> history, std::shared_ptr<Shared> shared)
      : history_(std::move(history)), shared_(std::move(shared)) {}

  // What cannot be written the history keeps, tries again and counts itself.
  sink::Delivery deliver(std::span<const sink::Share> shares) override {
    for (const sink::Share& share : shares) std::ignore = history_->append(*share.batch);
    shared_->write_captures(*history_);
    return {.batches = shares.size()};
  }

 private:
  std::shared_ptr<store::History> history_;
  std::shared_ptr<Shared> shared_;
};

Result<std::unique_ptr<HistoryWriter>> HistoryWriter::open(store::HistoryOptions options) {
  std::unique_ptr<HistoryWriter> writer(new HistoryWriter);
  TRY_ASSIGN(writer->history_, store::History::open(std::move(options)));
  writer->shared_ = std::make_shared<Shared>();
  sink::RunnerOptions runner;
  runner.name = "history";
  runner.choice.tables = {"*"};
  runner.gather = kGather;
  runner.most_batches = kMostBatches;
  runner.most_bytes = kMostBytes;
  TRY_ASSIGN(writer->runner_, sink::SinkRunner::start(
                                  std::make_unique<HistorySink>(writer->history_, writer->shared_), runner));
  return writer;
}

// A query under way may keep the history longer than this.
HistoryWriter::~HistoryWriter() {
  runner_.reset();
  if (!history_) return;
  shared_->write_captures(*history_);
  std::ignore = history_->flush();
}

std::function<void(Ns)> HistoryWriter::catch_up() const {
  return [history = history_, shared = shared_, samples = runner_->catch_up()](Ns patience) {
    samples(patience);
    shared->write_captures(*history);
  };
}

void HistoryWriter::note_capture(store::CaptureNote note) {
  std::lock_guard lock(shared_->mutex);
  if (shared_->captures.size() < kMostCaptures)
    shared_->captures.push_back(std::move(note));
  else
    ++shared_->lost_captures;
}

SinkState HistoryWriter::state() const {
  SinkState state = runner_->state();
  std::lock_guard lock(shared_->mutex);
  const store::HistoryState& h = shared_->state;
  state.rejected += h.lost_rows + h.lost_events + h.damaged_blocks + shared_->lost_captures;
  state.failures += h.failures;
  if (state.last_error.empty()) state.last_error = h.last_error;
  return state;
}

}  // namespace spotter::api
