// Rules: all rules at work on one host: tables of samples in, conditions that begin, end or change out. One
// thread; no clock of its own.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "respond/rules/list.h"
#include "table/batch.h"

namespace spotter::respond {

using RuleSettings = std::map<std::string, Settings>;  // by the name of the rule

// Errors: invalid (no such rule, or what check() of its settings says).
Result<void> check(const RuleSettings& settings);

struct RulesOptions {
  RuleSettings settings = {};  // checked ones
  std::string host = {};
  // A condition that begins so often in this time flaps: it goes on until it was quiet for `calm`.
  int flaps = 4;
  Ns flap_window = 30 * kMinute;
  Ns calm = 15 * kMinute;
  size_t most = 10'000;  // conditions that are watched; more are counted, and not watched
};

class Rules {
 public:
  explicit Rules(RulesOptions options);
  ~Rules();

  // What changed: a condition that began to fire, whose numbers are new while it does (`refresh` after it was
  // said last), or that is over. Batches by one come in the order of time; where the clock was set back by
  // more than a minute, what was measured before is forgotten.
  std::vector<Condition> add(const Batch& batch);
  // Time passes: conditions of what nobody tells of any more are over.
  std::vector<Condition> pass(Ns at);
  std::set<std::string_view> tables() const;  // that rules look at
  // A capture of ours: its steps are not judged.
  void captured(const std::string& job, Span span) { facts_.captured(job, span); }
  // Ends those that no sign ends: somebody says that it is mended.
  std::vector<Condition> resolve(u64 fingerprint, Ns at);

  bool has_job(const std::string& job) const { return facts_.has(job); }  // on this host
  std::vector<Condition> firing() const;
  // Those that were said last `kRefresh` ago: who leads has to know that they last.
  std::vector<Condition> again(Ns at);
  // What was looked for in the last minute and not found (ruled_out.h).
  std::vector<std::string> ruled_out(Ns at) const;
  i64 left_out() const { return left_out_; }  // signs for which there was no room

  static constexpr Ns kRefresh = 30 * kSecond;

 private:
  struct Watched;
  struct At;  // a rule at work

  void take(const At& rule, std::string_view table, Sign sign, Ns at, std::vector<Condition>& changes);
  void begin_anew(Ns at, std::vector<Condition>& changes);
  static void end(Watched& watched, Ns at, std::vector<Condition>& changes);
  static bool is_over(const Watched& watched, Ns calm, Ns at);

  RulesOptions options_;
  HostFacts facts_;
  std::vector<At> rules_;  // as they are from the beginning
  std::map<std::string_view, std::vector<At*>> by_table_;
  std::map<std::string_view, Ns> tables_seen_;  // when the newest of each was looked
  std::map<u64, Watched> watched_;  // by what it is of, and its user: those that are wrong, or were lately
  std::vector<Sign> signs_;
  std::map<std::string, Ns> last_at_;  // by who looked
  i64 left_out_ = 0;
};

}  // namespace spotter::respond
