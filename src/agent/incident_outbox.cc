#include "agent/incident_outbox.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace spotter::agent {
namespace {

notify::Occasion occasion_of(const std::string& name) {
  const auto* found = std::ranges::find(notify::kOccasionNames, name);
  const auto index = found - std::begin(notify::kOccasionNames);
  return found == std::end(notify::kOccasionNames) ? notify::Occasion::changed
                                                   : static_cast<notify::Occasion>(index);
}

notify::Word word_of(store::OutboxRow row) {
  return {.incident = std::move(row.incident),
          .sequence = row.sequence,
          .occasion = occasion_of(row.occasion),
          .is_urgent = row.is_urgent,
          .text = std::move(row.text),
          .attempts = row.attempts,
          .first_attempt = row.first_attempt,
          .in_doubt = row.in_doubt,
          .is_told = row.is_told,
          .kept = std::move(row.kept)};
}

// What the store goes by: which row it is, and what is kept with it.
std::vector<store::OutboxRow> rows_of(const std::string& notifier, std::span<const notify::Word> words) {
  std::vector<store::OutboxRow> rows;
  for (const notify::Word& word : words) {
    store::OutboxRow& row = rows.emplace_back();
    row.incident = word.incident;
    row.notifier = notifier;
    row.sequence = word.sequence;
    row.occasion = notify::occasion_name(word.occasion);
    row.is_last = word.occasion == notify::Occasion::resolved;
    row.is_urgent = word.is_urgent;
    row.attempts = word.attempts;
    row.first_attempt = word.first_attempt;
    row.in_doubt = word.in_doubt;
    row.is_told = word.is_told;
    row.kept = word.kept;
  }
  return rows;
}

class StoredOutbox : public notify::Outbox {
 public:
  explicit StoredOutbox(std::shared_ptr<store::IncidentStore> store) : store_(std::move(store)) {}

  Result<std::vector<notify::Word>> due(const std::string& notifier, Ns now, i64 most) override {
    TRY_ASSIGN(std::vector<store::OutboxRow> rows, store_->due(notifier, now, most));
    std::vector<notify::Word> words;
    for (store::OutboxRow& row : rows) words.push_back(word_of(std::move(row)));
    return words;
  }
  Result<std::optional<Ns>> next_due(const std::string& notifier) override {
    return store_->next_due(notifier);
  }
  Result<i64> waiting(const std::string& notifier) override { return store_->waiting(notifier); }

  Result<void> begin_attempt(const std::string& notifier, std::span<const notify::Word> words,
                             Ns now) override {
    return store_->begin_attempt(rows_of(notifier, words), now);
  }
  Result<void> put_off(const std::string& notifier, std::span<const notify::Word> words, Ns next,
                       bool in_doubt) override {
    return store_->put_off(rows_of(notifier, words), next, in_doubt);
  }
  Result<void> tick_off(const std::string& notifier, std::span<const notify::Word> words, Ns again) override {
    return store_->tick_off(rows_of(notifier, words), again);
  }
  Result<void> drop(const std::string& notifier, std::span<const notify::Word> words) override {
    return store_->drop(rows_of(notifier, words));
  }

 private:
  std::shared_ptr<store::IncidentStore> store_;
};

}  // namespace

std::shared_ptr<notify::Outbox> outbox_in(std::shared_ptr<store::IncidentStore> store) {
  return std::make_shared<StoredOutbox>(std::move(store));
}

}  // namespace spotter::agent
