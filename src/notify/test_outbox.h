// For the tests of this folder: an outbox in memory, and a notifier that does as it is told.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "notify/courier.h"
#include "wire/incident.h"

namespace spotter::notify {

inline constexpr Ns kStart = 1'795'409'206 * kSecond;

inline respond::Incident incident_of(i64 job, i64 sequence = 1) {
  respond::Incident incident;
  incident.cluster = "a";
  incident.family = "speed";
  incident.n = 1;
  incident.sequence = sequence;
  incident.job = {.id = std::to_string(job), .name = "pretrain", .user = "alice"};
  incident.state = respond::IncidentState::verdict;
  incident.opened = incident.updated = kStart;
  return incident;
}

inline Word word_of(const respond::Incident& incident, Occasion occasion = Occasion::verdict) {
  return {.incident = incident.id(),
          .sequence = incident.sequence,
          .occasion = occasion,
          .is_urgent = incident.urgency == respond::Urgency::critical,
          .text = wire::incident_text(incident)};
}

class TestOutbox : public Outbox {
 public:
  void put(const std::string& notifier, Word word) {
    const std::lock_guard lock(mutex_);
    const Key key(notifier, word.incident);
    const auto told = kept_.find(key);
    const auto waits = rows_.find(key);
    if (told != kept_.end()) word.kept = told->second;
    word.in_doubt = waits != rows_.end() && waits->second.word.in_doubt;
    // Nobody is told the end of what he has not heard of.
    if (word.occasion == Occasion::resolved && told == kept_.end() && !word.in_doubt) {
      rows_.erase(key);
      return;
    }
    rows_[key] = {std::move(word), 0, ++count_};
  }
  void break_for(i64 calls) {
    const std::lock_guard lock(mutex_);
    broken_ = calls;
  }
  i64 attempts_begun() const {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  bool in_doubt(const std::string& notifier, const std::string& incident) const {
    const std::lock_guard lock(mutex_);
    return rows_.at({notifier, incident}).word.in_doubt;
  }

  Result<std::vector<Word>> due(const std::string& notifier, Ns now, i64 most) override {
    const std::lock_guard lock(mutex_);
    std::vector<const Row*> rows;
    for (const auto& [key, row] : rows_) {
      if (key.first == notifier && row.next <= now) rows.push_back(&row);
    }
    std::ranges::sort(rows, {}, [](const Row* row) { return std::pair(!row->word.is_urgent, row->put); });
    std::vector<Word> words;
    for (const Row* row : rows) {
      if (std::ssize(words) < most) words.push_back(row->word);
    }
    return words;
  }
  Result<std::optional<Ns>> next_due(const std::string& notifier) override {
    const std::lock_guard lock(mutex_);
    std::optional<Ns> next;
    for (const auto& [key, row] : rows_) {
      if (key.first == notifier) next = std::min(next.value_or(row.next), row.next);
    }
    return next;
  }
  Result<i64> waiting(const std::string& notifier) override {
    const std::lock_guard lock(mutex_);
    return std::ranges::count_if(
        rows_, [&](const auto& row) { return row.first.first == notifier && !row.second.word.is_told; });
  }
  Result<void> begin_attempt(const std::string& notifier, std::span<const Word> words, Ns now) override {
    return each(notifier, words, [&](Row& row) {
      ++begun_;
      ++row.word.attempts;
      if (row.word.first_attempt == 0) row.word.first_attempt = now;
      row.word.in_doubt = true;
    });
  }
  Result<void> put_off(const std::string& notifier, std::span<const Word> words, Ns next,
                       bool in_doubt) override {
    size_t index = 0;
    return each(notifier, words, [&](Row& row) {
      row.next = next;
      row.word.in_doubt = in_doubt || words[index++].in_doubt;
    });
  }
  Result<void> tick_off(const std::string& notifier, std::span<const Word> words, Ns again) override {
    const std::lock_guard lock(mutex_);
    if (broken_ > 0) return broken();
    for (const Word& word : words) {
      const std::pair key(notifier, word.incident);
      kept_[key] = word.kept;
      const auto it = rows_.find(key);
      if (it == rows_.end() || it->second.word.sequence != word.sequence) continue;
      it->second.next = again;
      it->second.word.is_told = true;
      it->second.word.kept = word.kept;
      it->second.word.attempts = it->second.word.first_attempt = 0;
      if (again == 0) rows_.erase(it);
    }
    return {};
  }
  Result<void> drop(const std::string& notifier, std::span<const Word> words) override {
    const std::lock_guard lock(mutex_);
    if (broken_ > 0) return broken();
    for (const Word& word : words) rows_.erase({notifier, word.incident});
    return {};
  }

 private:
  struct Row {
    Word word;
    Ns next = 0;
    i64 put = 0;
  };
  using Key = std::pair<std::string, std::string>;

  tl::unexpected<Error> broken() {
    --broken_;
    return fail(Code::io, "the disk is full");
  }
  template <class Change>
  Result<void> each(const std::string& notifier, std::span<const Word> words, Change change) {
    const std::lock_guard lock(mutex_);
    if (broken_ > 0) return broken();
    for (const Word& word : words) {
      const auto it = rows_.find({notifier, word.incident});
      if (it != rows_.end() && it->second.word.sequence == word.sequence) change(it->second);
    }
    return {};
  }

  mutable std::mutex mutex_;
  std::map<Key, Row> rows_;
  std::map<Key, std::string> kept_;
  i64 broken_ = 0, begun_ = 0, count_ = 0;
};

// What it was told, and what it answers: the next of `answers`, or that all is well.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Telling> told;
  std::vector<size_t> digests;  // how many words each had
  std::vector<std::string> kept;
  std::deque<Outcome> answers;
  std::string keeps;
  Ns renewal = 0;
  bool has_digest = false, hangs = false, is_interrupted = false, is_deaf = false;

  Outcome answer(const std::string& was_kept) {
    std::unique_lock lock(mutex);
    kept.push_back(was_kept);
    changed.notify_all();
    changed.wait(lock, [&] { return !hangs || (is_interrupted && !is_deaf); });
    if (answers.empty()) return {};
    const Outcome outcome = answers.front();
    answers.pop_front();
    return outcome;
  }
};

class TestNotifier : public Notifier {
 public:
  explicit TestNotifier(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  Outcome tell(const Telling& telling, std::string& kept) override {
    {
      const std::lock_guard lock(script_->mutex);
      script_->told.push_back(telling);
    }
    const Outcome outcome = script_->answer(kept);
    if (outcome.kind == Outcome::Kind::done && !script_->keeps.empty()) kept = script_->keeps;
    return outcome;
  }
  bool has_digest() const override { return script_->has_digest; }
  Outcome tell_digest(std::span<const Telling> tellings) override {
    {
      const std::lock_guard lock(script_->mutex);
      script_->digests.push_back(tellings.size());
    }
    return script_->answer("");
  }
  Ns renewal() const override { return script_->renewal; }
  void interrupt() override {
    const std::lock_guard lock(script_->mutex);
    script_->is_interrupted = true;
    script_->changed.notify_all();
  }

 private:
  std::shared_ptr<Script> script_;
};

}  // namespace spotter::notify
