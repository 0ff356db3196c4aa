#include "agent/incidents/incident_outbox.h"

#include <algorithm>
#include <utility>

namespace spotter::agent {
namespace {

// Of a later version there may be others: told as a change.
notify::Occasion occasion_of(const std::string& name) {
  const auto it = std::ranges::find(notify::kOccasionNames, name);
  return it == std::end(notify::kOccasionNames)
             ? notify::Occasion::changed
             : static_cast<notify::Occasion>(it - std::begin(notify::kOccasionNames));
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

// As far as the store needs to know them again.
std::vector<store::OutboxRow> rows_of(const std::string& notifier, std::span<const notify::Word> words) {
  std::vector<store::OutboxRow> rows;
  for (const notify::Word& word : words)
    rows.push_back({.incident = word.incident,
                    .notifier = notifier,
                    .sequence = word.sequence,
                    .in_doubt = word.in_doubt,
                    .kept = word.kept});
  return rows;
}

class IncidentOutbox : public notify::Outbox {
 public:
  explicit IncidentOutbox(std::shared_ptr<store::IncidentStore> store) : store_(std::move(store)) {}

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
  return std::make_shared<IncidentOutbox>(std::move(store));
}

store::OutboxRow outbox_row(const respond::Incident& incident, notify::Occasion occasion,
                            const std::string& notifier, std::string text, Ns now) {
  return {.incident = incident.id(),
          .notifier = notifier,
          .sequence = incident.sequence,
          .occasion = notify::occasion_name(occasion),
          .is_last = occasion == notify::Occasion::resolved,
          .is_urgent = incident.urgency == respond::Urgency::critical,
          .text = std::move(text),
          .put = now,
          .in_doubt = incident.told_elsewhere};
}

}  // namespace spotter::agent
