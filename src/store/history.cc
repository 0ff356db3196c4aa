#include "store/history.h"

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>

#include "base/saturated.h"
#include "base/time.h"
#include "store/json_row.h"
#include "store/series/block_codec.h"
#include "store/series/fold.h"

namespace spotter::store {
namespace {

constexpr Ns kRetry = 10 * kSecond;
constexpr Ns kJump = kMinute;               // what is more than a late batch or a pause
constexpr size_t kCells = size_t{1} << 16;  // a block of so many is full before its time

void read_row(const Table& table, size_t row, std::vector<Value>& values) {
  values.clear();
  for (size_t i = 0; i < table.columns(); ++i) values.push_back(table.at(row, i));
}

}  // namespace

Result<std::unique_ptr<History>> History::open(HistoryOptions options) {
  TRY(check(options.tiers));
  if (options.most_bytes < kLeastFileBytes)
    return fail(Code::invalid, "a history needs {} bytes at least", kLeastFileBytes);
  std::unique_ptr<History> history(new History(std::move(options)));
  TRY(history->open_file());
  TRY(history->catalogue_->end_captures());
  TRY(history->take_journal());
  return history;
}

// What the one before had in memory when it was killed. It is in memory again, and in a journal of our own.
Result<void> History::take_journal() {
  TRY_ASSIGN(const i64 before, file_.database.integer("SELECT number FROM journal"));
  for (const JournaledRows& part : journal_.read(before)) {
    const Block& block = part.block;
    Open& open = open_[block.schema->table];
    if (open.block && *open.block->schema != *block.schema) close(open);
    if (!open.block || *open.block->schema != *block.schema)
      open.block = std::make_unique<Block>(block.schema);
    for (size_t row = 0; row < block.rows(); ++row) {
      row_.clear();
      for (size_t column = 0; column < block.columns.size(); ++column) row_.push_back(block.at(row, column));
      advance(block.times[row], part.period);
      take_row(open, block.times[row], part.period);
    }
  }
  // What is full already is in no journal of ours.
  if (!waiting_.empty()) return write(false);
  TRY_ASSIGN(Transaction transaction, Transaction::begin(file_.database));
  TRY(prepare_journal());
  TRY(transaction.commit());
  begin_journal();
  return {};
}

// In a transaction. Where none can be written the history goes on without one.
Result<void> History::prepare_journal() {
  std::vector<JournalPart> all;
  for (const auto& [table, open] : open_) {
    if (open.block) all.push_back({open.block.get(), 0, open.period});
  }
  std::random_device random;
  const i64 number = 1 + static_cast<i64>(random());
  const Result<void> prepared = journal_.prepare(number, all);
  state_.journal_error = prepared ? "" : prepared.error().message;
  return file_.database.run(fmt::format("UPDATE journal SET number = {}", prepared ? number : 0).c_str());
}

// When the transaction has been committed.
void History::begin_journal() {
  if (const Result<void> begun = journal_.take_place(); !begun) state_.journal_error = begun.error().message;
  for (auto& [table, open] : open_) open.journaled = open.block ? open.block->rows() : 0;
}

void History::append_to_journal() {
  std::vector<JournalPart> parts;
  for (auto& [table, open] : open_) {
    if (!open.block || open.journaled == open.block->rows()) continue;
    parts.push_back({open.block.get(), open.journaled, open.period});
    open.journaled = open.block->rows();
  }
  if (const Result<void> appended = journal_.append(parts); !appended)
    state_.journal_error = appended.error().message;
}

// Does nothing while one is open and in its place. The log of one that is not goes into it before it is
// closed: SQLite would take a log that is left at the path for that of the file which is there next.
Result<void> History::open_file() {
  const bool is_open = blocks_ && catalogue_;
  if (is_open && is_in_place(file_)) return {};
  blocks_.reset();
  catalogue_.reset();
  if (is_open) {
    ++state_.lost_files;
    std::ignore = file_.database.integer("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  file_ = HistoryFile();  // with its lock, which may be of another file than the next one
  TRY_ASSIGN(file_, open_history_file(options_.path, options_.most_bytes));
  Result<void> prepared = prepare();
  if (!prepared && prepared.error().code == Code::corrupt) prepared = begin_anew();
  return prepared;
}

Result<void> History::begin_anew() {
  blocks_.reset();
  catalogue_.reset();
  TRY(store::begin_anew(file_, options_.most_bytes));
  return prepare();
}

Result<void> History::prepare() {
  TRY_ASSIGN(Blocks blocks, Blocks::open(file_.database));
  TRY_ASSIGN(const Ns recorded, blocks.recorded());
  TRY_ASSIGN(Catalogue catalogue, Catalogue::open(file_.database, options_.most_bytes));
  recorded_ = std::max(recorded_, recorded);
  blocks_ = std::make_unique<Blocks>(std::move(blocks));
  catalogue_ = std::make_unique<Catalogue>(std::move(catalogue));
  folded_for_.assign(options_.tiers.size(), std::numeric_limits<i64>::min());
  if (!file_.moved_to.empty()) {
    state_.moved_to = std::exchange(file_.moved_to, {});
    ++state_.damaged_files;
  }
  return {};
}

History::~History() {
  if (catalogue_ && flush()) journal_.remove();
}

Result<void> History::append(const Batch& batch) {
  const std::scoped_lock lock(mutex_);
  advance(batch.unix_ns, batch.period_ns);
  for (const Table& table : batch.tables) take(table, batch);
  // Tables that are not given any more.
  const i64 window = window_of(last_unix_, options_.tiers[0].block);
  for (auto it = open_.begin(); it != open_.end();) {
    Open& open = it->second;
    if (open.window == window || open.window == window - 1) {
      ++it;
      continue;
    }
    close(open);
    it = open_.erase(it);
  }
  const Result<void> written = write(false);
  append_to_journal();
  return written;
}

// How much has been recorded: the time between batches, unless the clock has jumped or nobody sampled; then
// their period. Batches of slow collectors come late, and do not count.
void History::advance(Ns unix_ns, Ns batch_period) {
  const Ns period = std::clamp<Ns>(batch_period, 0, kHour);
  const Ns passed = has_last_ ? subtract_saturated(unix_ns, last_unix_) : 0;
  if (passed < 0 && passed > -kJump) return;
  recorded_ += passed >= 0 && passed <= std::max(10 * period, kJump) ? passed : period;
  last_unix_ = unix_ns;
  has_last_ = true;
}

bool History::Open::is_of(const Table& table) const {
  if (!block) return false;
  if (columns && columns == table.lasting_schema() && block->columns.size() == table.columns()) return true;
  return block->schema->is_of(table);
}

void History::take(const Table& table, const Batch& batch) {
  if (table.rows() == 0 || table.columns() == 0) return;
  if (table.is_events) return take_events(table, batch.unix_ns);
  Open& open = open_[table.name()];
  const bool is_of = open.is_of(table);
  const auto rows = static_cast<i64>(table.rows());
  state_.rows += rows;
  if (table.columns() > kMostFields) {
    state_.lost_rows += rows;
    return;
  }
  if (!is_of) {
    close(open);
    open.block = std::make_unique<Block>(std::make_shared<const Schema>(schema_of(table)));
    open.columns = table.lasting_schema();
  }
  for (size_t row = 0; row < table.rows(); ++row) {
    read_row(table, row, row_);
    take_row(open, batch.unix_ns, batch.period_ns);
  }
}

// The row is row_.
void History::take_row(Open& open, Ns time, Ns period) {
  const i64 window = window_of(time, options_.tiers[0].block);
  if (open.window != window || open.block->cells() >= kCells ||
      open.block->words.memory_bytes() >= kMostBlockTexts / 2)
    close(open);
  open.period = open.block->rows() == 0 ? period : std::min(open.period, period);
  open.window = window;
  open.block->append(time, row_);
}

void History::take_events(const Table& table, Ns time) {
  const auto schema = std::make_shared<const Schema>(schema_of(table));
  const auto time_field = std::ranges::find(schema->fields, Role::time, &StoredField::role);
  const auto time_column = static_cast<size_t>(time_field - schema->fields.begin());
  std::vector<Value> values;
  for (size_t row = 0; row < table.rows(); ++row) {
    ++state_.rows;
    read_row(table, row, values);
    const i64* own = time_column < values.size() ? std::get_if<i64>(&values[time_column]) : nullptr;
    Block block(schema);
    block.append(own ? *own : time, values);
    Result<std::string> bytes = encode(block);
    if (!bytes || table.columns() > kMostFields) {
      ++state_.lost_events;
      continue;
    }
    const auto all = [](const StoredField&) { return true; };
    events_.push_back({block.times[0], schema, json_row(block, 0, all), std::move(*bytes), seen_in(block)});
    if (events_.size() <= kMostEvents) continue;
    events_.pop_front();
    ++state_.lost_events;
  }
}

// Samples that come more often than the finest step are folded, too.
Result<PackedBlock> History::packed(const Open& open) const {
  const Tier& finest = options_.tiers[0];
  if (open.period <= 0 || open.period >= finest.step) return pack(*open.block, finest.step, recorded_);
  return pack(folded({open.block.get(), 1}, finest.step), finest.step, recorded_);
}

// Leaves an empty block of the same columns.
void History::close(Open& open) {
  if (!open.block || open.block->rows() == 0) return;
  Result<PackedBlock> block = packed(open);
  if (block) {
    waiting_.push_back({std::move(*block), seen_in(*open.block)});
  } else {
    state_.lost_rows += static_cast<i64>(open.block->rows());
    state_.last_error = block.error().message;
  }
  open.block = std::make_unique<Block>(open.block->schema);
  open.journaled = 0;
}

Result<void> History::flush() {
  const std::scoped_lock lock(mutex_);
  for (auto& [table, open] : open_) close(open);
  return write(true);
}

Result<void> History::write(bool is_last) {
  if (waiting_.empty() && events_.empty()) return {};
  if (is_failing_ && !is_last && recorded_ - tried_ < kRetry) {
    drop_waiting();
    return {};
  }
  const auto attempt = [&]() -> Result<void> {
    TRY(open_file());
    TRY(write_waiting(is_last));
    return tidy();
  };
  Result<void> status = attempt();
  if (!status && status.error().code == Code::corrupt && blocks_) {
    status = begin_anew();
    if (status) status = attempt();
  }
  if (!status) return failed(status.error());
  is_failing_ = false;
  state_.last_error.clear();
  return {};
}

Result<void> History::write_waiting(bool is_last) {
  i64 bytes = 0;
  for (const Waiting& waiting : waiting_) bytes += waiting.bytes();
  TRY(retention_.make_room(file_.database, *blocks_, recorded_, bytes, state_.damaged_blocks));
  TRY_ASSIGN(Transaction transaction, Transaction::begin(file_.database));
  for (const Waiting& waiting : waiting_) {
    TRY(blocks_->insert(waiting.block));
    TRY(catalogue_->add(waiting.seen, recorded_, is_last));
  }
  for (const Event& event : events_) {
    TRY_ASSIGN(const i64 schema, blocks_->schema_id(*event.schema));
    TRY(catalogue_->add(event, schema, recorded_));
  }
  if (!waiting_.empty()) TRY(prepare_journal());
  TRY(transaction.commit());
  if (!waiting_.empty()) begin_journal();
  state_.blocks += std::ssize(waiting_);
  state_.waiting_bytes = 0;
  waiting_.clear();
  events_.clear();
  return {};
}

// Coarser blocks are made two finest blocks after their time: then batches that were late are written, too.
Result<void> History::tidy() {
  const std::vector<Tier>& tiers = options_.tiers;
  const Ns before = subtract_saturated(last_unix_, 2 * tiers[0].block);
  for (size_t i = 1; i < tiers.size(); ++i) {
    const i64 window = window_of(before, tiers[i].block);
    if (folded_for_[i] == window) continue;
    TRY(fold_tier(file_.database, *blocks_, tiers[i - 1].step, tiers[i], last_unix_, before,
                  state_.damaged_blocks));
    folded_for_[i] = window;
  }
  TRY(retention_.drop_old(file_.database, *blocks_, recorded_, state_.damaged_blocks));
  if (recorded_ - trimmed_ < kTrim) return {};
  trimmed_ = recorded_;
  TRY_ASSIGN(Transaction transaction, Transaction::begin(file_.database));
  TRY(catalogue_->trim(recorded_ - tiers.back().keep));
  return transaction.commit();
}

void History::drop_waiting() {
  state_.waiting_bytes = 0;
  for (const Waiting& waiting : waiting_) state_.waiting_bytes += waiting.bytes();
  while (state_.waiting_bytes > kMostWaiting) {
    state_.waiting_bytes -= waiting_.front().bytes();
    state_.lost_rows += waiting_.front().block.rows;
    waiting_.pop_front();
  }
}

Result<void> History::failed(Error error) {
  // What was remembered of the file may be of a transaction that it does not have.
  if (blocks_) (void)blocks_->forget();
  if (catalogue_) catalogue_->forget();
  drop_waiting();
  ++state_.failures;
  is_failing_ = true;
  tried_ = recorded_;
  state_.last_error = error.message;
  return tl::unexpected(std::move(error));
}

Result<void> History::note_capture(const CaptureNote& capture) {
  const std::scoped_lock lock(mutex_);
  TRY(open_file());
  return catalogue_->add(capture);
}

HistoryState History::state() const {
  const std::scoped_lock lock(mutex_);
  HistoryState state = state_;
  state.waiting_rows = std::ssize(events_);
  for (const Waiting& waiting : waiting_) state.waiting_rows += waiting.block.rows;
  for (const auto& [table, open] : open_)
    if (open.block) state.waiting_rows += static_cast<i64>(open.block->rows());
  return state;
}

Result<std::vector<PackedBlock>> History::unwritten(const std::function<bool(const Schema&)>& wanted,
                                                    const std::function<Result<void>()>& begin) {
  const std::scoped_lock lock(mutex_);
  TRY(begin());
  std::vector<PackedBlock> all;
  for (const Waiting& waiting : waiting_) {
    if (wanted(*waiting.block.schema)) all.push_back(waiting.block);
  }
  for (const auto& [table, open] : open_) {
    if (!open.block || open.block->rows() == 0 || !wanted(*open.block->schema)) continue;
    if (Result<PackedBlock> block = packed(open)) all.push_back(std::move(*block));
  }
  return all;
}

}  // namespace spotter::store
