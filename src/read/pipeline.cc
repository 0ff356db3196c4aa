#include "read/pipeline.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "base/parallel_for.h"
#include "read/boundary.h"
#include "read/envelope.h"
#include "read/scanner.h"

namespace spotter::read {
namespace {

constexpr size_t kMostStretch = size_t{64} << 20;  // text without a boundary that is held
constexpr size_t kMostTail = size_t{64} << 20;     // text kept from behind the events

// Text with the room around it that a scanner needs.
class Text {
 public:
  char* begin() const { return buffer_.get() + kTextHeadroom + skip_; }
  char* end() const { return buffer_.get() + kTextHeadroom + size_; }
  size_t size() const { return size_ - skip_; }
  std::string_view view() const { return {begin(), size()}; }

  void clear() { size_ = skip_ = 0; }
  void skip(size_t n) { skip_ += n; }
  void cut(const char* at) { size_ = static_cast<size_t>(at - buffer_.get()) - kTextHeadroom; }
  void grow(size_t n) { size_ += n; }
  void reserve(size_t n) {
    if (n <= capacity_) return;
    std::unique_ptr<char[]> next(new char[kTextHeadroom + n + kTextPadding]);
    std::memset(next.get(), 0, kTextHeadroom);
    if (size_) std::memcpy(next.get() + kTextHeadroom, buffer_.get() + kTextHeadroom, size_);
    buffer_ = std::move(next);
    capacity_ = n;
  }
  void append(std::string_view text) {
    reserve(size_ + text.size());
    if (!text.empty()) std::memcpy(end(), text.data(), text.size());
    size_ += text.size();
  }
  std::span<char> room(size_t n) {
    reserve(size_ + n);
    return {end(), n};
  }
  void pad() { std::memset(end(), 0, kTextPadding); }

 private:
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0, size_ = 0, skip_ = 0;
};

// A turn that is short and soon comes back. The first who waits for it does not sleep, for about as long as a
// turn takes: to be woken would take a good part of that. A second one sleeps.
class Token {
 public:
  void lock() {
    if (mutex_.try_lock() || lock_awake()) return;
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  bool lock_awake() {
    constexpr int kTries = 2000;
    if (is_awaited_.test_and_set()) return false;
    bool has_it = false;
    for (int i = 0; i < kTries && !has_it; i++) {
      std::this_thread::yield();
      has_it = mutex_.try_lock();
    }
    is_awaited_.clear();
    return has_it;
  }

  std::mutex mutex_;
  std::atomic_flag is_awaited_;
};

struct Stretch {
  Text text;
  i64 offset = 0;  // of the text in the file
  u64 number = 0;
  bool last = false;
  size_t scanner = 0;
  Block block;
  Scanned scanned;
};

class Pipeline {
 public:
  // `texts`: where the events' texts go; nullptr where their columns are wanted.
  Pipeline(RawInput& input, Source& source, const LoadRequest& request, const TakeTexts* texts,
           const Cuts& cuts)
      : input_(input),
        source_(source),
        request_(request),
        texts_(texts),
        cuts_(cuts),
        threads_(static_cast<size_t>(std::max(1, request.threads))),
        stretches_(threads_ == 1 ? 1 : 2 * threads_ + 2),
        scanners_(threads_ + 1),
        assembler_(threads_ + 1, request.most_texts) {
    for (Stretch& s : stretches_) {
      s.block.wants_texts = texts_ != nullptr;
      free_.push_back(&s);
    }
    joined_block_.wants_texts = texts_ != nullptr;
  }

  Result<TraceData> run() {
    work(0);
    for (std::thread& t : helpers_) t.join();
    if (error_) return tl::unexpected<Error>(*error_);
    TraceData& data = assembler_.data;
    data.notes.merge(source_notes_);
    if (!array_ended_) {
      data.notes.add("truncated", Severity::loss,
                     "the file ends inside its list of events; what follows was never written or was cut off",
                     text_offset_);
    }
    data.loaded = request_.args;
    data.info.json_bytes = text_offset_;
    data.info.file_bytes = input_.bytes_read();
    read_info(header_, tail_, array_ended_ && !is_list_, data.info, data.notes);
    return std::move(data);
  }

 private:
  void work(size_t worker) {
    while (Stretch* s = next(worker)) {
      if (!scanners_[worker]) scanners_[worker] = make_scanner(request_.args);
      s->scanner = worker;
      s->scanned = scanners_[worker]->scan(s->text.begin(), s->text.end(), s->last, s->block);
      deliver(s);
    }
  }

  // Under the token: the next stretch of text, or nullptr when there is no more or the load has failed.
  Stretch* next(size_t worker) {
    const std::lock_guard token(token_);
    if (source_over_ || failed()) return nullptr;
    if (request_.cancelled && request_.cancelled->load(std::memory_order_relaxed)) {
      return stop({Code::cancelled, "cancelled"});
    }
    Stretch* s = take_free();
    s->number = filled_++;
    if (const Result<void> r = fill(*s); !r) return stop(r.error());
    source_over_ = s->last;
    if (worker == 0 && filled_ == cuts_.alone && !source_over_) {
      for (size_t i = 1; i < threads_; i++) try_start(helpers_, [this, i] { work(i); });
    }
    return s;
  }

  Result<void> fill(Stretch& s) {
    Text& text = s.text;
    text.clear();
    text.append(leftover_);
    s.offset = text_offset_ - static_cast<i64>(leftover_.size());
    leftover_.clear();
    while (true) {
      const std::span<char> room = text.room(std::max(cuts_.stretch, 2 * text.size()) - text.size());
      TRY_ASSIGN(const size_t got, source_.read(room, source_notes_));
      text.grow(got);
      text_offset_ += static_cast<i64>(got);
      report_progress();
      s.last = got < room.size();
      if (!header_found_) {
        const bool enough = s.last || text.size() >= kMostHeader;
        if (enough && text.size() == 0 && !source_notes_.empty()) {
          return fail(Code::corrupt, "{}: the compressed data is damaged or cut off before any of its text",
                      input_.path());
        }
        TRY_ASSIGN(EventsStart start, find_events(text.view(), enough, input_.path()));
        if (!start.found) continue;
        header_found_ = true;
        header_ = std::move(start.members);
        is_list_ = start.is_list;
        text.skip(start.at);
        s.offset += static_cast<i64>(start.at);
      }
      if (s.last) break;
      if (const char* cut = last_boundary(text.begin(), text.end())) {
        leftover_.assign(cut, static_cast<size_t>(text.end() - cut));
        text.cut(cut);
        break;
      }
      if (text.size() >= kMostStretch) break;
    }
    text.pad();
    return {};
  }

  void report_progress() {
    if (request_.on_bytes) request_.on_bytes(input_.bytes_read() - reported_);
    reported_ = input_.bytes_read();
  }

  // Hands a scanned stretch over; whoever completes the row appends all that is ready, in order.
  void deliver(Stretch* s) {
    std::unique_lock lock(append_mutex_);
    ready_.push_back(s);
    if (appending_) return;
    appending_ = true;
    while (Stretch* turn = take_ready()) {
      lock.unlock();
      const Result<void> r = append(*turn);
      if (!r) stop(r.error());
      lock.lock();
      appended_++;
      free_.push_back(turn);
      freed_.notify_one();
    }
    appending_ = false;
  }

  Stretch* take_ready() {
    for (size_t i = 0; i < ready_.size(); i++) {
      if (ready_[i]->number != appended_) continue;
      Stretch* s = ready_[i];
      ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(i));
      return s;
    }
    return nullptr;
  }

  Stretch* take_free() {
    std::unique_lock lock(append_mutex_);
    freed_.wait(lock, [&] { return !free_.empty(); });
    Stretch* s = free_.back();
    free_.pop_back();
    return s;
  }

  Result<void> append(Stretch& s) {
    if (array_ended_) {
      keep_tail(s.text.view());
      return {};
    }
    if (carry_.empty()) return append(s.scanned, s.block, s.scanner, s.text, s.offset, s.last);
    // The stretch before was cut inside an event: what is left of it belongs in front of this one.
    if (!texts_) assembler_.skip(s.scanner, s.block);
    joined_.clear();
    joined_.append(carry_);
    joined_.append(s.text.view());
    joined_.pad();
    const i64 offset = s.offset - static_cast<i64>(carry_.size());
    const bool final = s.last || carry_.size() > cuts_.most_carry;
    carry_.clear();
    const size_t mender = threads_;
    if (!scanners_[mender]) scanners_[mender] = make_scanner(request_.args);
    const Scanned scanned = scanners_[mender]->scan(joined_.begin(), joined_.end(), final, joined_block_);
    return append(scanned, joined_block_, mender, joined_, offset, s.last);
  }

  Result<void> append(const Scanned& scanned, const Block& block, size_t scanner, const Text& text,
                      i64 offset, bool last) {
    if (texts_)
      TRY((*texts_)(block.texts));
    else
      TRY(assembler_.append(scanner, block, text.begin(), offset));
    if (scanned.why == ScanEnd::array_end) {
      array_ended_ = true;
      keep_tail({scanned.stop, static_cast<size_t>(text.end() - scanned.stop)});
    } else if (scanned.why == ScanEnd::incomplete && !last) {
      carry_.assign(scanned.stop, static_cast<size_t>(text.end() - scanned.stop));
    }
    return {};
  }

  void keep_tail(std::string_view text) { tail_.append(text.substr(0, kMostTail - tail_.size())); }

  Stretch* stop(Error error) {
    const std::lock_guard lock(error_mutex_);
    if (!error_) error_ = std::move(error);
    return nullptr;
  }
  bool failed() {
    const std::lock_guard lock(error_mutex_);
    return error_.has_value();
  }

  RawInput& input_;
  Source& source_;
  const LoadRequest& request_;
  const TakeTexts* const texts_;
  const Cuts cuts_;
  const size_t threads_;
  std::vector<std::thread> helpers_;
  std::vector<Stretch> stretches_;
  std::vector<std::unique_ptr<Scanner>>
      scanners_;  // one a worker; the last mends wrong cuts, under the append turn

  // Of whoever holds the token.
  Token token_;
  Notes source_notes_;
  std::string leftover_, header_;
  bool is_list_ = false;  // the events alone, without an object around them
  i64 text_offset_ = 0, reported_ = 0;
  u64 filled_ = 0;
  bool source_over_ = false, header_found_ = false;

  // Under append_mutex_.
  std::mutex append_mutex_;
  std::condition_variable freed_;
  std::vector<Stretch*> free_, ready_;
  u64 appended_ = 0;
  bool appending_ = false;

  // Of whoever holds the turn to append.
  Assembler assembler_;
  std::string carry_, tail_;
  Text joined_;
  Block joined_block_;
  bool array_ended_ = false;

  std::mutex error_mutex_;
  std::optional<Error> error_;
};

}  // namespace

Result<TraceData> read_events(RawInput& input, Source& source, const LoadRequest& request, const Cuts& cuts) {
  return Pipeline(input, source, request, nullptr, cuts).run();
}

Result<void> read_event_texts(RawInput& input, Source& source, const LoadRequest& request,
                              const TakeTexts& take, const Cuts& cuts) {
  TRY(Pipeline(input, source, request, &take, cuts).run());
  return {};
}

}  // namespace spotter::read
