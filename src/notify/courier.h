// Courier: what one notifier is told and when, without a thread or a clock: delivery.h has those.
//
// A word is in the outbox until it has arrived, so each arrives at least once. What does not is tried again,
// with pauses that double and are drawn anew each time, so that hosts do not come together; whoever asks for
// a pause gets it. Who is told much (many in ten minutes) gets a digest a minute where it has one.
#pragma once
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "notify/outbox.h"
#include "notify/redact.h"

namespace spotter::notify {

// Who is told: a notifier of the configuration.
struct Receiver {
  std::string name, kind;
  std::unique_ptr<Notifier> notifier;
  Redaction redaction = {};
  respond::Urgency least = respond::Urgency::info;  // incidents below it are not put into its outbox
  // For an audit: what it was told ("incident 4711-speed-2: verdict, without users"). Any thread.
  std::function<void(const std::string& what)> on_told = {};
};

struct CourierLimits {
  Ns least_gap = kSecond;                             // between two attempts
  Ns renewal_gap = 50 * kMillisecond;                 // the same where it was told before
  Ns first_pause = kSecond, longest_pause = kMinute;  // drawn between 0 and these
  Ns longest_wish = 5 * kMinute;                      // of the receiver, for a pause
  Ns patience = kHour, urgent_patience = kDay;        // from the first attempt on; then it is dropped
  i64 least_attempts = 3;                             // before: a clock may jump
  Ns storm_time = 10 * kMinute;
  size_t storm = 20;  // messages in that time
  Ns digest_gap = kMinute;
  Ns renewed_after_end = 15 * kMinute;  // Prometheus does so, too
};

struct NotifierState {
  std::string name = {}, kind = {};
  i64 sent = 0;     // messages, without those that only renew what was told
  i64 failed = 0;   // attempts
  i64 dropped = 0;  // words that were never delivered
  i64 waiting = 0;
  bool is_off = false;          // it asked to be told nothing more
  std::string last_error = {};  // empty: the last attempt did not fail
  Ns last_sent = 0;             // Unix time; 0: never
};

// What tests say themselves.
struct Chance {
  std::function<Ns()> unix_now;
  std::function<double()> jitter;  // draws between 0 and 1
};

class Courier {
 public:
  static constexpr Ns kNever = std::numeric_limits<Ns>::max();

  Courier(Receiver receiver, std::shared_ptr<Outbox> outbox, Chance chance, CourierLimits limits = {});

  // Does what is due, at most one message, and says when to come again (Unix time), or sooner if there is
  // news. Blocks as long as the notifier does. One thread.
  Ns step();
  NotifierState state() const;                           // any thread
  void interrupt() { receiver_.notifier->interrupt(); }  // any thread
  const std::string& name() const { return receiver_.name; }

 private:
  struct Attempt {
    std::vector<Word> words;  // several: a digest
    std::vector<Telling> tellings = {};
    bool is_renewal = false;
    bool makes_noise = false;  // a new message, not one that amends another
  };

  Ns choose(std::vector<Word> words, Ns now);
  Ns tell(std::vector<Word> words, Ns now);
  void settle(Attempt attempt, const Outcome& outcome, Ns now);
  void arrived(Attempt attempt, const std::string& says, Ns now);
  Ns renewal_of(const Attempt& attempt, Ns now) const;
  void put_off(std::vector<Word> words, const Outcome& outcome, Ns now);
  bool is_over(const Word& word, Ns now) const;
  Result<void> drop(const std::vector<Word>& words, const std::string& why);
  Ns drop_all(Ns now);
  bool write_down(Ns now);
  bool is_storm(Ns now);
  Ns pause_of(i64 failures, double drawn) const;
  void say(std::string error);
  void count_waiting();

  Receiver receiver_;
  std::shared_ptr<Outbox> outbox_;
  Chance chance_;
  CourierLimits limits_;
  Ns not_before_ = 0;
  i64 failures_ = 0;           // one after the other
  bool takes_digests_ = true;  // until it refuses one
  Ns last_digest_ = 0;
  std::deque<Ns> messages_;                  // when new ones were sent, the last limits_.storm
  std::function<Result<void>()> unsettled_;  // what became of an attempt, and is not in the outbox yet
  i64 write_failures_ = 0;
  LogLimit log_limit_;
  mutable std::mutex mutex_;  // of the state
  NotifierState state_;
};

}  // namespace spotter::notify
