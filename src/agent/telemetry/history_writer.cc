#include "agent/telemetry/history_writer.h"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/time.h"

namespace spotter::agent {
namespace {

constexpr Ns kGather = 5 * kSecond;
constexpr Ns kLongestPause = kMinute;
constexpr size_t kMostBatches = 240, kMostBytes = size_t{4} << 20, kMostCaptures = 1024;

// Of what lasts, its beginning and its end.
void log_changes(const std::string& path, const store::HistoryState& before, const store::HistoryState& now) {
  if (now.lost_files > before.lost_files)
    log(Level::warning, "{} was removed or replaced while it was written; the history goes on anew there",
        path);
  if (now.damaged_files > before.damaged_files)
    log(Level::warning, "the history was damaged; it is now {}, and a new one begins", now.moved_to);
  if (before.last_error.empty() && !now.last_error.empty())
    log(Level::warning, "the history cannot be written, and waits in memory as far as it has room there: {}",
        now.last_error);
  if (!before.last_error.empty() && now.last_error.empty())
    log(Level::info, "the history is written again; {} rows and events have been lost so far",
        now.lost_rows + now.lost_events);
  if (before.journal_error.empty() && !now.journal_error.empty())
    log(Level::warning,
        "the history has no journal for now, so that a killed agent would lose its last minute: {}",
        now.journal_error);
}

}  // namespace

// What is between the loop's thread and that of the history, which may hang with its disk.
struct HistoryWriter::Shared {
  explicit Shared(store::HistoryOptions o) : options(std::move(o)) {}

  const store::HistoryOptions options;
  std::mutex writing;                       // one at a time, so that states come in order; before `mutex`
  std::mutex mutex;                         // of what follows
  std::shared_ptr<store::History> history;  // nullptr: not yet
  std::string no_history;                   // why
  std::vector<store::CaptureNote> captures;
  i64 lost_captures = 0;
  store::HistoryState state;

  std::shared_ptr<store::History> opened() {
    std::lock_guard lock(mutex);
    return history;
  }

  Result<std::shared_ptr<store::History>> open() {
    std::lock_guard one(writing);
    if (auto there = opened()) return there;
    auto made = store::History::open(options);
    std::lock_guard lock(mutex);
    if (!made) {
      no_history = "no history is kept: " + made.error().message;
      return fail(Code::io, "{}", no_history);
    }
    return history = std::move(*made);
  }

  std::vector<store::CaptureNote>::iterator waiting_of(const std::string& id) {
    return std::ranges::find(captures, id, &store::CaptureNote::id);
  }

  // The last word about a capture counts, and takes no more room than the first.
  void add(store::CaptureNote capture) {
    std::lock_guard lock(mutex);
    if (const auto it = waiting_of(capture.id); it != captures.end())
      *it = std::move(capture);
    else if (captures.size() < kMostCaptures)
      captures.push_back(std::move(capture));
    else
      ++lost_captures;
  }

  void write_captures(store::History& to) {
    std::lock_guard one(writing);
    std::vector<store::CaptureNote> waiting, failed;
    {
      std::lock_guard lock(mutex);
      waiting = std::exchange(captures, {});
    }
    for (store::CaptureNote& capture : waiting) {
      if (!to.note_capture(capture)) failed.push_back(std::move(capture));
    }
    const store::HistoryState now = to.state();
    store::HistoryState before;
    {
      std::lock_guard lock(mutex);
      std::erase_if(failed, [&](const auto& capture) { return waiting_of(capture.id) != captures.end(); });
      captures.insert(captures.begin(), failed.begin(), failed.end());
      before = std::exchange(state, now);
    }
    log_changes(to.path(), before, now);
  }
};

class HistoryWriter::HistorySink : public sink::Sink {
 public:
  explicit HistorySink(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  // What cannot be written the history keeps, tries again and counts itself; what it cannot be given stays in
  // the queue.
  sink::Delivery deliver(std::span<const sink::Share> shares) override {
    const auto history = shared_->open();
    if (!history) return {.result = tl::unexpected(history.error())};
    for (const sink::Share& share : shares) std::ignore = (*history)->append(*share.batch);
    shared_->write_captures(**history);
    return {.batches = shares.size()};
  }

 private:
  std::shared_ptr<Shared> shared_;
};

Result<std::unique_ptr<HistoryWriter>> HistoryWriter::open(store::HistoryOptions options) {
  std::unique_ptr<HistoryWriter> writer(new HistoryWriter);
  writer->shared_ = std::make_shared<Shared>(std::move(options));
  if (const auto opened = writer->shared_->open()) {
    writer->shared_->write_captures(**opened);  // and says what opening it has met
  } else {
    log(Level::warning, "{}; it is tried again", opened.error().message);
  }
  sink::RunnerOptions runner;
  runner.name = "history";
  runner.choice.tables = {"*"};
  runner.gather = kGather;
  runner.most_batches = kMostBatches;
  runner.most_bytes = kMostBytes;
  runner.longest_pause = kLongestPause;
  TRY_ASSIGN(writer->runner_,
             sink::SinkRunner::start(std::make_unique<HistorySink>(writer->shared_), std::move(runner)));
  return writer;
}

// A query under way may keep the history longer than this.
HistoryWriter::~HistoryWriter() {
  runner_.reset();
  const std::shared_ptr<store::History> history = shared_->opened();
  if (!history) return;
  const Result<void> flushed = history->flush();
  shared_->write_captures(*history);
  if (flushed) return;
  const store::HistoryState end = history->state();
  log(Level::warning, "the history could not be written at the end: {} rows and events are lost with it: {}",
      end.waiting_rows, flushed.error().message);
}

Result<std::shared_ptr<store::History>> HistoryWriter::history() const {
  std::lock_guard lock(shared_->mutex);
  if (!shared_->history) return fail(Code::not_found, "{}", shared_->no_history);
  return shared_->history;
}

std::function<void(Ns)> HistoryWriter::catch_up() const {
  return [shared = shared_, samples = runner_->catch_up()](Ns patience) {
    samples(patience);
    if (const auto history = shared->opened()) shared->write_captures(*history);
  };
}

void HistoryWriter::note_capture(store::CaptureNote note) { shared_->add(std::move(note)); }

std::optional<SinkState> HistoryWriter::state() const {
  SinkState state = runner_->state();
  std::lock_guard lock(shared_->mutex);
  const store::HistoryState& h = shared_->state;
  state.rejected += h.lost_rows + h.lost_events + h.damaged_blocks + shared_->lost_captures;
  state.failures += h.failures + h.lost_files + h.damaged_files;
  if (state.last_error.empty()) state.last_error = shared_->history ? h.last_error : shared_->no_history;
  if (state.last_error.empty()) state.last_error = h.journal_error;
  return state;
}

}  // namespace spotter::agent
