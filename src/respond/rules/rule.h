// Rule: the record that one thing to watch for is: when it holds of a job, a part of it or a host. It is
// judged on the host that sees it, by the tables that the host samples; the same tables from the history give
// the same. To add one: a file here, its name in list.h, a test.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "respond/incidents/condition.h"
#include "table/batch.h"

namespace spotter::respond {

// A table of this host, and when it was sampled (Unix time).
struct Sample {
  const Table& table;
  Ns at = 0;
};

struct Span {
  Ns from = 0, until = 0;
};

// What is known of this host beside the sample: which jobs run on it, and when they were traced.
class HostFacts {
 public:
  void see(const Sample& sample);  // of the table `job`; others are not looked at
  // Our captures of a job, in the order of time: they slow it down. `until` may be still to come.
  void captured(const std::string& job, Span span);

  // The only one: whom a condition of the whole host is about. Else empty.
  std::string only_job() const;
  bool has(const std::string& job) const { return users_.contains(job); }
  std::string user_of(const std::string& job) const;
  std::optional<Span> last_capture(const std::string& job) const;

 private:
  std::map<std::string, std::string> users_;  // by job
  std::map<std::string, Span> captures_;      // the last one; of the jobs that are here
};

// What a rule says of one thing at one time.
struct Sign {
  // Without what is the rule's or the host's: rule, family, urgency, at, since; the host where it is another
  // one.
  Condition condition;
  bool is_wrong = false;
  std::optional<Urgency> urgency = {};  // where it is not the rule's
  // Of the whole host, and of a job for it is the only one here: while it lasts that job's, whoever comes.
  bool is_of_host = false;
};

// Ranks or jobs that a rule looks at, of all on the host: which ones they are is what processes say of
// themselves. There is no room for more before some are forgotten.
inline constexpr size_t kMostWatched = 10'000;

class Watch {
 public:
  virtual ~Watch() = default;
  // One of the rule's tables. Signs of what was looked at, wrong or not, are added. One thread. Memory is
  // bounded.
  virtual void see(const Sample& sample, const HostFacts& facts, std::vector<Sign>& signs) = 0;
};

struct Rule {
  const char* name;    // "step_time_up"
  const char* family;  // speed, progress, gpu, network, host, storage, log: an incident is of one family
  Urgency urgency;
  const char* meaning;  // when it holds: one sentence
  const char* remedy;   // what to do about it, where it is the cause; "" where it is a symptom
  // How directly it names a cause, among the conditions of one time: the lowest first; 0: it is a symptom.
  int rank_as_cause;
  // How long it has to be wrong before it fires, and how long after the last wrong sign it is over.
  const char* hold;
  const char* recover;  // kByHand: not by itself
  std::span<const char* const> tables;
  std::span<const Setting> settings;  // beside those of all rules (common_settings())
  // The settings have passed check(), and have their fallbacks.
  std::unique_ptr<Watch> (*make)(const Settings& settings);
};
inline constexpr const char* kByHand = "by hand";

// What every rule has: enabled, for, recover.
std::span<const Setting> common_settings();

// Words of settings that have passed their check.
double number_of(const Settings& settings, const char* key);
Ns duration_of(const Settings& settings, const char* key);
// Checks for them. Errors: invalid.
Result<void> is_positive(const std::string& word);  // a number above 0
Result<void> is_share(const std::string& word);     // from 0 to 1
Result<void> is_above_one(const std::string& word);

}  // namespace spotter::respond
