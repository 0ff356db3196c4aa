#include "api/history_writer.h"

#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "base/log.h"

namespace spotter::api {
namespace {

constexpr Ns kGather = 5'000'000'000;
constexpr size_t kMostBatches = 240, kMostBytes = size_t{4} << 20, kMostCaptures = 1024;

// Of what lasts, its beginning and its end.
void log_changes(const std::string& path, const store::HistoryState& before, const store::HistoryState& now) {
  if (now.lost_files > before.lost_files)
    log(Level::warning, "{} was removed or replaced while it was written; the history goes on anew there",
        path);
  if (now.moved_to != before.moved_to)
    log(Level::warning, "the history was damaged; it is now {}, and a new one begins", now.moved_to);
  if (before.last_error.empty() && !now.last_error.empty())
    log(Level::warning, "the history cannot be written, and waits in memory as far as it has room there: {}",
        now.last_error);
  if (!before.last_error.empty() && now.last_error.empty())
    log(Level::info, "the history is written again; {} rows and events have been lost so far",
        now.lost_rows + now.lost_events);
}

}  // namespace

// What is between the loop's thread and that of the history, which may hang with its disk.
struct HistoryWriter::Shared {
  std::mutex writing;  // one at a time, so that states come in order; before `mutex`
  std::mutex mutex;
  std::vector<store::CaptureNote> captures;
  i64 lost_captures = 0;
  store::HistoryState state;

  void write_captures(store::History& history) {
    std::lock_guard one(writing);
    std::vector<store::CaptureNote> waiting, failed;
    {
      std::lock_guard lock(mutex);
      waiting = std::exchange(captures, {});
    }
    for (store::CaptureNote& capture : waiting) {
      if (!history.note_capture(capture)) failed.push_back(std::move(capture));
    }
    const store::HistoryState now = history.state();
    store::HistoryState before;
    {
      std::lock_guard lock(mutex);
      captures.insert(captures.begin(), failed.begin(), failed.end());
      before = std::exchange(state, now);
    }
    log_changes(history.path(), before, now);
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
  writer->shared_->write_captures(*writer->history_);  // and says what opening it has met
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
  const Result<void> flushed = history_->flush();
  shared_->write_captures(*history_);
  if (flushed) return;
  const store::HistoryState end = history_->state();
  log(Level::warning, "the history could not be written at the end: {} rows and events are lost with it: {}",
      end.waiting_rows, flushed.error().message);
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
  state.failures += h.failures + h.lost_files;
  if (state.last_error.empty()) state.last_error = h.last_error;
  return state;
}

}  // namespace spotter::api
