// Incidents: from conditions of many hosts to incidents, one per cluster, job and family, and what is to be
// done about each. The leader of a job has it. One thread; no clock, no socket: time and answers are handed
// in, and what is to be done comes out.
//
//   pending        conditions gather; gone if all are over before they have
//   firing         evidence is wanted: investigate() or conclude() answers
//   investigating  captures are under way, until a verdict or the end of patience
//   verdict, inconclusive    told; a later verdict amends it
//   recovering     all conditions are over
//   resolved       they have been for long
//
// A condition that fires again while it recovers, or soon after it was resolved, takes it back to where it
// was, under the same number.
#pragma once
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "respond/incidents/conclusion.h"
#include "respond/incidents/incident.h"
#include "respond/incidents/report.h"
#include "respond/incidents/silences.h"
#include "table/batch.h"

namespace spotter::respond {

struct IncidentsOptions {
  std::string cluster = "local";
  std::string host = {};    // who leads
  Ns gather = 3 * kSecond;  // conditions that begin together
  // For a verdict, after it fired or further captures were begun, twice at most; then it is told that there
  // is none.
  Ns patience = 45 * kSecond;
  Ns calm = 5 * kMinute;      // all over for so long: resolved
  Ns reopen = 15 * kMinute;   // a resolved one is the same one again
  Ns repeat = 4 * kHour;      // what stays is told again
  Ns together = 2 * kMinute;  // conditions of other families that may be the cause
  Ns forget = 10 * kMinute;   // a condition that its host says no more
  Ns grace = 5 * kMinute;     // after a restart: hosts have that long to say what still holds
  // How often there was one of this key before this process; empty: never.
  std::function<i64(const std::string& key)> last_n = {};
  // Adds what else is known of it when it is told of: its job, what was changed before, lines of logs; empty:
  // nothing more than its conditions say.
  std::function<void(Incident&)> look_back = {};
  size_t most = 1000;               // incidents, open or resolved a while ago
  size_t more_critical = 200;       // beyond those, of critical ones
  size_t most_conditions = 20'000;  // of all of them
};

// What is to be told of it. renewed: another host has told it, and stops; who forgets what nobody repeats
// hears of it from here.
enum class Word : u8 { none, opened, verdict, changed, resolved, renewed };

// What became of an incident: it is to be stored, and what else is to be done.
struct IncidentChange {
  Incident incident;
  IncidentState from = IncidentState::pending;
  std::string why = {};  // one clause, for the audit
  Word word = Word::none;
  // Of a job that is slow a capture, of one that does not go on what else can be found out: answer with
  // investigate() or conclude().
  bool wants_evidence = false;
  bool is_gone = false;  // it was nothing: there is no incident
};

class Incidents {
 public:
  explicit Incidents(IncidentsOptions options) : options_(std::move(options)) {}

  using Changes = std::vector<IncidentChange>;

  // One that the store has, in the order in which they were opened.
  void restore(Incident incident, Ns at);
  void restore(Silence silence) { silences_.restore(std::move(silence)); }

  // `stands_in`: it is another host's to lead its job.
  Changes take(const Condition& condition, Ns at, bool stands_in = false);
  Changes pass(Ns at);  // each second or two

  // Answers, by id; of one that is not open any more they are kept with it, and change no state. Errors:
  // not_found.
  Result<Changes> investigate(const std::string& id, CaptureOfIncident capture, Ns at);
  // Once or more than once: a later verdict amends the one before.
  Result<Changes> conclude(const std::string& id, Conclusion conclusion, Ns at);
  // Facts that came with it: the job's size, changes before it, lines of logs, what a capture cost.
  Result<Changes> amend(const std::string& id, const std::function<void(Incident&)>& edit, Ns at);

  // Of a job that more than one host may lead (report.h). What another one leads: who has to go on with it
  // does so under its number. `is_all`: of that job it leads no others.
  void learn(const std::string& job, const std::vector<LedIncident>& led, Ns at, bool is_all = false);
  // What others lead, whose end is to be told, by job; not what is open here.
  std::map<std::string, std::vector<LedIncident>> awaited(Ns at);
  // Who led them does not answer: said each half a minute, of one that recovered for a minute and of another
  // for as long as a condition is kept that its host says no more, it is taken to be over, and its end is
  // told here.
  void inherit(const std::string& job, const std::vector<LedIncident>& awaited, Ns at);
  // Those of a job, as who asks has to know them: the last one of each key.
  std::vector<LedIncident> led(const std::string& job, Ns at) const;
  // Whether somebody has resolved it since it began, and nothing else will end it.
  bool is_mended(const Condition& condition) const;
  // One that another host led until now: it goes on here, in the one that is open here, if one is.
  Changes adopt(Incident incident, Ns at);
  // What a host tells that has a part of a job: its conditions, and what it has led so far, at the times of
  // this host's clock.
  // `mended`: gets those of its conditions that somebody has resolved here, and that nothing else ends.
  // `stands_in`: as of take().
  Changes receive(const Report& report, Ns at, std::vector<u64>* mended = nullptr, bool stands_in = false);
  // What is open of a job and not just being looked into: that is for who has begun it to tell.
  std::vector<Incident> to_hand_over(const std::string& job) const;
  // The other way round: what `host` has now of those that were `sent` is closed here, and told no more; not
  // what has become more since.
  Changes hand_over(const std::vector<Incident>& sent, const std::vector<LedIncident>& led,
                    const std::string& host, Ns at);

  // What people do. Errors: not_found, invalid.
  Result<Changes> acknowledge(const std::string& id, Acknowledgement by);
  Result<Changes> resolve(const std::string& id, const std::string& by, Ns at);
  Result<Changes> silence(const Silence& silence, Ns at);
  std::vector<Silence> silences(Ns at) const { return silences_.all(at); }

  std::optional<Incident> find(const std::string& id) const;
  // The open one that a condition belongs to.
  std::optional<Incident> open(const Condition& condition) const;
  // The one that a condition of a job belongs to, if it has been concluded, and is not over.
  std::optional<Incident> concluded(const Condition& condition) const;
  std::vector<Condition> firing(const std::string& id) const;  // of one that there is
  // Ranks that conditions name as the cause, its own and others that may be it: the most direct first.
  std::vector<i64> suspects(const std::string& id, Ns at) const;
  bool is_open(const std::string& job) const;      // whether one of the job's is
  std::set<std::string> open_jobs() const;         // all of which one is
  std::vector<Incident> all() const;               // the newest first
  std::vector<IncidentCount> open_counts() const;  // of each state and severity, those without any, too
  i64 left_out() const { return left_out_; }

 private:
  struct Kept {
    Incident incident = {};
    std::map<u64, Condition> firing = {};
    bool is_changed = false;  // what fires, since it was described
    Ns began = 0;             // of this state
    Ns asked = 0;             // for evidence, when last
    Ns grace = 0;             // not over before
    Ns ask_again = 0;         // for evidence, then: what was begun is lost with the process before
    Ns silenced = 0;          // until then, where it was led before
  };

  // Of a sequence that another host may have gone on with: what is told here is not what was told already.
  static constexpr i64 kStep = 100;
  static constexpr const char* kNoAnswer = "the evidence did not come in time";
  struct Learnt {
    LedIncident led = {};
    Ns at = 0;
    Ns closed = 0;                          // since when it is known not to be open
    Ns orphan_since = 0, orphan_until = 0;  // that its leader does not answer
  };

  Result<Kept*> named(const std::string& id);
  Kept* kept_for(const Condition& condition, Ns at);
  Kept* begin(const Condition& condition, Ns at, bool stands_in);
  bool add(Kept& kept, const Condition& condition);  // whether its urgency rose
  void take_back(const Incident& incident);
  void pass(Kept& kept, Ns at, Changes& changes);
  void set_back(Ns at);
  bool has_late_cause(const Kept& kept, Ns at) const;
  void fire(Kept& kept, Ns at, Changes& changes);
  void settle(Kept& kept, Conclusion conclusion, std::string why, Ns at, Changes& changes);
  void move(Kept& kept, IncidentState to, std::string why, Word word, Ns at, Changes& changes);
  std::optional<Ns> silenced(const Kept& kept, Ns at) const;  // until when
  Word said(Kept& kept, Word word, Ns at) const;
  bool is_open_in(const std::string& family, const std::string& job) const;
  std::vector<const Condition*> related(const Kept& kept, Ns at) const;
  static void go_on_with(Kept& kept, const Learnt& learnt);
  std::vector<std::pair<const std::string, Learnt>*> all_awaited(Ns at);
  void end_orphans(Ns at, Changes& changes);
  void take_over(Kept& kept) const;
  void forget(Ns at);

  IncidentsOptions options_;
  std::list<Kept> incidents_;  // in the order in which they were opened
  Silences silences_;
  std::map<std::string, i64> numbers_;    // the last n by key
  std::map<u64, Ns> mended_;              // by fingerprint: what is resolved by hand, and when it was
  std::map<std::string, Learnt> learnt_;  // by key: of other leaders
  size_t conditions_ = 0;
  Ns last_pass_ = 0;
  i64 left_out_ = 0;
};

}  // namespace spotter::respond
