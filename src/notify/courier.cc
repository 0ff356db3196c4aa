#include "notify/courier.h"

#include <algorithm>
#include <cmath>

#include "base/system/host.h"
#include "base/text/utf8.h"
#include "wire/incident.h"

namespace spotter::notify {
namespace {

constexpr i64 kMostInDigest = 100;
constexpr size_t kMostErrorBytes = 300;  // the receiver's words may be in it
constexpr Ns kStoreRetry = kSecond;

// It would be a new message.
bool is_noise(const Word& word) { return word.kept.empty() && !word.is_told; }

}  // namespace

Courier::Courier(Receiver receiver, std::shared_ptr<Outbox> outbox, Chance chance, CourierLimits limits)
    : receiver_(std::move(receiver)),
      outbox_(std::move(outbox)),
      chance_(std::move(chance)),
      limits_(limits) {
  state_.name = receiver_.name;
  state_.kind = receiver_.kind;
  count_waiting();
}

NotifierState Courier::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void Courier::count_waiting() {
  const Result<i64> waiting = outbox_->waiting(receiver_.name);
  const std::lock_guard lock(mutex_);
  if (waiting) state_.waiting = *waiting;
}

void Courier::say(std::string error) {
  error = to_printable(error);
  if (error.size() > kMostErrorBytes) error = to_valid_utf8(error.substr(0, kMostErrorBytes)) + " …";
  const std::lock_guard lock(mutex_);
  if (error != state_.last_error)
    log_limit_.log(Level::warning, steady_clock_now(), fmt::format("notifier {}: {}", receiver_.name, error));
  state_.last_error = std::move(error);
}

Ns Courier::step() {
  const Ns now = chance_.unix_now();
  // A clock that was set back would make it wait for ever.
  if (not_before_ > now + kFarAhead) not_before_ = now;
  if (last_digest_ > now) last_digest_ = 0;
  if (!write_down(now) || now < not_before_) return not_before_;
  count_waiting();
  if (state_.is_off) return drop_all(now);
  Result<std::vector<Word>> words = outbox_->due(receiver_.name, now, kMostInDigest);
  if (!words) {
    say(words.error().message);
    return now + kStoreRetry;
  }
  if (!words->empty()) return choose(std::move(*words), now);
  const Result<std::optional<Ns>> next = outbox_->next_due(receiver_.name);
  if (!next) return now + kStoreRetry;
  return next->value_or(kNever);
}

// A digest has what would be new messages; what amends one makes no noise, and goes by itself.
Ns Courier::choose(std::vector<Word> words, Ns now) {
  if (!takes_digests_ || !receiver_.notifier->has_digest() || !is_storm(now))
    return tell({std::move(words.front())}, now);
  const auto quiet = std::ranges::find_if_not(words, is_noise);
  if (quiet != words.end()) return tell({std::move(*quiet)}, now);
  if (now < last_digest_ + limits_.digest_gap) return last_digest_ + limits_.digest_gap;
  return tell(std::move(words), now);
}

bool Courier::is_storm(Ns now) {
  return messages_.size() >= limits_.storm && messages_.front() <= now &&
         messages_.front() > now - limits_.storm_time;
}

Ns Courier::tell(std::vector<Word> words, Ns now) {
  Attempt attempt{.words = std::move(words)};
  for (const Word& word : attempt.words) {
    Result<respond::Incident> incident = wire::read_incident(word.text);
    if (!incident) {
      unsettled_ = [this, word, why = incident.error().message] { return drop({word}, why); };
      return write_down(now) ? now : not_before_;
    }
    redact(*incident, receiver_.redaction);
    attempt.tellings.push_back({std::move(*incident), word.occasion, now});
  }
  // Whoever is killed from here on leaves it in doubt. Where that cannot be written, what became of the
  // attempt could not be either, and it would be told again and again.
  if (const Result<void> begun = outbox_->begin_attempt(receiver_.name, attempt.words, now); !begun) {
    say(begun.error().message);
    return not_before_ = now + kStoreRetry;
  }
  for (Word& word : attempt.words) {
    ++word.attempts;
    if (word.first_attempt == 0) word.first_attempt = now;
  }
  Word& first = attempt.words.front();
  attempt.is_renewal = first.is_told;
  attempt.makes_noise = is_noise(first);
  not_before_ = now + (attempt.is_renewal ? limits_.renewal_gap : limits_.least_gap);
  // Of one word, too: in a storm the next ones may come each by itself.
  if (attempt.makes_noise && is_storm(now)) last_digest_ = now;
  Outcome outcome;
  if (attempt.words.size() > 1) {
    outcome = receiver_.notifier->tell_digest(attempt.tellings);
  } else {
    outcome = receiver_.notifier->tell(attempt.tellings[0], first.kept);
  }
  const Ns then = chance_.unix_now();
  settle(std::move(attempt), outcome, then);
  write_down(then);
  return not_before_;
}

void Courier::settle(Attempt attempt, const Outcome& outcome, Ns now) {
  if (outcome.kind == Outcome::Kind::done) return arrived(std::move(attempt), outcome.says, now);
  say(outcome.says);
  const bool is_gone = outcome.kind == Outcome::Kind::gone;
  {
    const std::lock_guard lock(mutex_);
    ++state_.failed;
    state_.is_off = is_gone;
  }
  if (is_gone)
    log(Level::warning, "notifier {} asked to be told nothing more, and is off until the agent restarts",
        receiver_.name);
  const bool is_refused_digest = outcome.kind == Outcome::Kind::for_good && attempt.words.size() > 1;
  if (is_refused_digest) takes_digests_ = false;  // each by itself
  if (is_refused_digest || outcome.kind == Outcome::Kind::again)
    return put_off(std::move(attempt.words), outcome, now);
  failures_ = 0;
  // Who took it before is most likely not the one who refuses it: a proxy, or a token that is being changed.
  if (const Ns again = renewal_of(attempt, now); attempt.is_renewal && again != 0 && !is_gone) {
    unsettled_ = [this, words = std::move(attempt.words), again] {
      return outbox_->put_off(receiver_.name, words, again, false);
    };
    return;
  }
  unsettled_ = [this, words = std::move(attempt.words), says = outcome.says] { return drop(words, says); };
}

// When it is told again; 0: never.
Ns Courier::renewal_of(const Attempt& attempt, Ns now) const {
  const Ns renewal = receiver_.notifier->renewal();
  if (renewal == 0 || attempt.words.size() != 1) return 0;
  const respond::Incident& incident = attempt.tellings[0].incident;
  return incident.is_open() || now < incident.closed + limits_.renewed_after_end ? now + renewal : 0;
}

void Courier::arrived(Attempt attempt, const std::string& says, Ns now) {
  failures_ = 0;
  if (attempt.makes_noise) {
    messages_.push_back(now);
    if (messages_.size() > limits_.storm) messages_.pop_front();
  }
  if (!attempt.is_renewal) {
    for (const Word& word : attempt.words) {
      const std::string what =
          fmt::format("incident {}: {}{}", to_printable(word.incident), occasion_name(word.occasion),
                      what_is_left_out(receiver_.redaction));
      log(Level::info, "notifier {} was told of {}", receiver_.name, what);
      if (receiver_.on_told) receiver_.on_told(what);
    }
  }
  const Ns again = renewal_of(attempt, now);
  // One of several receivers has not taken it, or a part of it was refused.
  if (!says.empty()) say(says);
  {
    const std::lock_guard lock(mutex_);
    if (!attempt.is_renewal) ++state_.sent;
    state_.last_sent = now;
    if (says.empty() && !std::exchange(state_.last_error, {}).empty())
      log_limit_.log(Level::info, steady_clock_now(),
                     fmt::format("notifier {}: works again", receiver_.name));
  }
  unsettled_ = [this, words = std::move(attempt.words), again] {
    return outbox_->tick_off(receiver_.name, words, again);
  };
}

// Of an attempt that failed so often, of the word or of the receiver.
Ns Courier::pause_of(i64 failures, double drawn) const {
  const double doubled = std::exp2(static_cast<double>(std::clamp<i64>(failures - 1, 0, 30)));
  const double most = std::min(static_cast<double>(limits_.first_pause) * doubled,
                               static_cast<double>(limits_.longest_pause));
  return static_cast<Ns>(drawn * most);
}

bool Courier::is_over(const Word& word, Ns now) const {
  const bool is_patient = word.is_urgent || receiver_.notifier->renewal() > 0;
  const Ns patience = is_patient ? limits_.urgent_patience : limits_.patience;
  return now - word.first_attempt >= patience && word.attempts >= limits_.least_attempts;
}

void Courier::put_off(std::vector<Word> words, const Outcome& outcome, Ns now) {
  ++failures_;
  const double drawn = chance_.jitter();
  const Ns wish = std::min(outcome.pause, limits_.longest_wish);
  not_before_ = std::max(not_before_, now + (wish > 0 ? wish : pause_of(failures_, drawn)));
  const Ns next = now + (wish > 0 ? wish : pause_of(words.front().attempts, drawn));
  const auto rest = std::ranges::partition(words, [&](const Word& word) { return is_over(word, now); });
  std::vector<Word> later(rest.begin(), rest.end());
  words.erase(rest.begin(), rest.end());
  for (Word& word : words) word.in_doubt = word.in_doubt || outcome.in_doubt;
  unsettled_ = [this, over = std::move(words), later = std::move(later), next,
                in_doubt = outcome.in_doubt]() mutable -> Result<void> {
    if (!over.empty()) TRY(drop(over, "given up"));
    over.clear();
    return outbox_->put_off(receiver_.name, later, next, in_doubt);
  };
}

Result<void> Courier::drop(const std::vector<Word>& words, const std::string& why) {
  // Of what may have arrived the receiver has to hear the end.
  std::vector<Word> doubtful, lost;
  for (const Word& word : words) (word.in_doubt ? doubtful : lost).push_back(word);
  TRY(outbox_->tick_off(receiver_.name, doubtful, 0));
  TRY(outbox_->drop(receiver_.name, lost));
  log(Level::warning, "notifier {} is not told of incident {}{}: {}", receiver_.name,
      to_printable(words.front().incident),
      words.size() > 1 ? fmt::format(" and {} others", words.size() - 1) : "", to_printable(why));
  const std::lock_guard lock(mutex_);
  state_.dropped += std::ranges::count(words, false, &Word::is_told);
  return {};
}

Ns Courier::drop_all(Ns now) {
  // Whenever they are due.
  Result<std::vector<Word>> words = outbox_->due(receiver_.name, kNever - kFarAhead, kMostInDigest);
  if (!words) return now + kStoreRetry;
  if (words->empty()) return kNever;
  unsettled_ = [this, words = std::move(*words)] { return drop(words, "it asked to be told nothing more"); };
  return write_down(now) ? now : not_before_;
}

// False: it cannot be written, and nothing else is done before it is.
bool Courier::write_down(Ns now) {
  if (!unsettled_) return true;
  if (now < not_before_ && write_failures_ > 0) return false;
  if (const Result<void> written = unsettled_(); !written) {
    say(written.error().message);
    not_before_ = std::max(not_before_, now + pause_of(++write_failures_, 1));
    return false;
  }
  write_failures_ = 0;
  unsettled_ = nullptr;
  count_waiting();
  return true;
}

}  // namespace spotter::notify
