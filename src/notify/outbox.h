// Outbox: what notifiers have still to be told, where it survives the process. One word waits per incident
// and notifier: a newer one takes an older one's place. agent/ has it in a file.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "notify/notifier.h"

namespace spotter::notify {

inline constexpr const char* kOccasionNames[] = {"opened", "verdict", "changed", "resolved", "test"};
inline const char* occasion_name(Occasion occasion) { return kOccasionNames[static_cast<size_t>(occasion)]; }

struct Word {
  std::string incident = {};  // its id
  i64 sequence = 0;
  Occasion occasion = Occasion::verdict;
  bool is_urgent = false;
  std::string text = {};  // the incident as it was then: JSON (wire/incident.h)
  i64 attempts = 0;
  Ns first_attempt = 0;   // Unix time; 0: none yet
  bool in_doubt = false;  // it may have arrived
  bool is_told = false;   // it has arrived, and is told again (Notifier::renewal)
  std::string kept = {};
};

// Any thread. Errors are those of the file: nothing has changed then.
class Outbox {
 public:
  virtual ~Outbox() = default;
  // Those that are due, urgent ones first. One that is due in more than kFarAhead is due now: the clock was
  // wrong.
  virtual Result<std::vector<Word>> due(const std::string& notifier, Ns now, i64 most) = 0;
  virtual Result<std::optional<Ns>> next_due(const std::string& notifier) = 0;  // nothing: none waits
  virtual Result<i64> waiting(const std::string& notifier) = 0;  // without those that were told

  virtual Result<void> begin_attempt(const std::string& notifier, std::span<const Word> words, Ns now) = 0;
  // They have not arrived; what was in doubt stays so.
  virtual Result<void> put_off(const std::string& notifier, std::span<const Word> words, Ns next,
                               bool in_doubt) = 0;
  // They have arrived; again: when they are to be told again, 0: never.
  virtual Result<void> tick_off(const std::string& notifier, std::span<const Word> words, Ns again) = 0;
  virtual Result<void> drop(const std::string& notifier, std::span<const Word> words) = 0;
};

inline constexpr Ns kFarAhead = 10 * kMinute;

}  // namespace spotter::notify
