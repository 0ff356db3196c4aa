#include "api/history_writer.h"

#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace spotter::api {
namespace {

constexpr size_t kMostBatches = 240, kMostBytes = size_t{4} << 20, kMostNotes = 1024;

}  // namespace

// What is between the loop's thread and that of the history, which may hang with its disk.
struct HistoryWriter::Notes {
  std::mutex mutex;
  std::vector<store::CaptureNote> captures;
  i64 lost_captures = 0;
  store::HistoryState state;
};

namespace {

template <class Notes>
class HistorySink : public sink::Sink {
 public:
  HistorySink(std::shared_ptr<store::History> history, std::shared_ptr<Notes> notes)
      : history_(std::move(history)), notes_(std::move(notes)) {}

  // What cannot be written the history keeps, tries again and counts itself.
  sink::Delivery deliver(std::span<const sink::Share> shares) override {
    for (const sink::Share& share : shares) std::ignore = history_->append(*share.batch);
    std::vector<store::CaptureNote> captures, failed;
    {
      std::lock_guard lock(notes_->mutex);
      captures = std::exchange(notes_->captures, {});
    }
    for (store::CaptureNote& capture : captures) {
      if (!history_->note_capture(capture)) failed.push_back(std::move(capture));
    }
    const store::HistoryState state = history_->state();
    std::lock_guard lock(notes_->mutex);
    notes_->captures.insert(notes_->captures.begin(), failed.begin(), failed.end());
    notes_->state = state;
    return {.batches = shares.size()};
  }

 private:
  std::shared_ptr<store::History> history_;
  std::shared_ptr<Notes> notes_;
};

}  // namespace

Result<std::unique_ptr<HistoryWriter>> HistoryWriter::open(store::HistoryOptions options) {
  std::unique_ptr<HistoryWriter> writer(new HistoryWriter);
  TRY_ASSIGN(writer->history_, store::History::open(std::move(options)));
  writer->notes_ = std::make_shared<Notes>();
  sink::RunnerOptions runner;
  runner.name = "history";
  runner.choice.tables = {"*"};
  runner.most_batches = kMostBatches;
  runner.most_bytes = kMostBytes;
  TRY_ASSIGN(writer->runner_,
             sink::SinkRunner::start(std::make_unique<HistorySink<Notes>>(writer->history_, writer->notes_),
                                     runner));
  return writer;
}

// A query under way may keep the history longer than this.
HistoryWriter::~HistoryWriter() {
  runner_.reset();
  if (history_) std::ignore = history_->flush();
}

void HistoryWriter::note_capture(store::CaptureNote note) {
  std::lock_guard lock(notes_->mutex);
  if (notes_->captures.size() < kMostNotes)
    notes_->captures.push_back(std::move(note));
  else
    ++notes_->lost_captures;
}

ConsumerState HistoryWriter::state() const {
  ConsumerState state = runner_->state();
  std::lock_guard lock(notes_->mutex);
  const store::HistoryState& h = notes_->state;
  state.rejected += h.lost_rows + h.lost_events + notes_->lost_captures;
  state.failures += h.failures;
  if (state.last_error.empty()) state.last_error = h.last_error;
  return state;
}

}  // namespace spotter::api
