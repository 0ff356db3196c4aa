// Budget: which captures may begin by themselves. A capture slows a job down, all of it where its ranks wait
// for one another: it is paid from an allowance of the job's time.
//
//   cost = (warm-up + window) x overhead + stall
//
// in seconds of the whole job: the overhead is 20 % until it was measured on this job, the stall 3 s at the
// first capture and 0.3 s later. A job has 3.6 s an hour (0.1 %), saves up 10 s at most and begins with 5 s;
// one critical incident a day may overdraw. One thread; no clock of its own.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace spotter::respond {

struct BudgetOptions {
  double allowance = 0.001;  // of the job's time
  double most_saved_s = 10, first_s = 5;
  double overhead = 0.2;  // until it is measured
  double first_stall_s = 3, stall_s = 0.3;
  Ns min_age = 5 * kMinute;
  i64 min_steps = 100;
  bool canary = true;  // a job's first capture is of one rank alone
  Ns apart = 10 * kMinute, family_apart = 30 * kMinute;
  i64 per_hour = 2, per_day = 6;
  Ns after_person = 2 * kMinute;      // somebody's own capture
  Ns after_checkpoint = 2 * kMinute;  // a lot was written
  i64 at_once = 2;                    // all jobs of a cluster
  double window_steps = 3.5;
  // Of short steps many are traced: the first and the last are cut, and one step says what one step had.
  Ns least_window = 1500 * kMillisecond, most_window = 10 * kSecond;
  Ns first_warm_up = 5 * kSecond, warm_up = kSecond;
  double aftermath = 1.02;  // slower than before, afterwards: twice, and the job is left alone
};
Result<void> check(const BudgetOptions& options);
// How long is recorded, of steps that take so long; `longest`: of the last ones, two of which are to fit
// where they take a second or two.
Ns window_of(const BudgetOptions& options, Ns step, Ns longest = 0);

// What is known of a job when a capture of it is wanted.
struct CaptureWish {
  std::string job = {}, family = {};
  bool is_critical = false;
  Ns at = 0;
  Ns age = 0;              // since its first step was seen
  i64 steps = 0;           // that were seen
  Ns step = 0;             // how long one takes, mostly
  Ns longest = 0;          // and the longest of the last ones
  Ns last_person = 0;      // when the last capture that somebody asked for ended; 0: none
  Ns last_checkpoint = 0;  // when much was written last; 0: never
};

struct CapturePlan {
  bool is_canary = false;  // of one rank, before the others
  Ns warm_up = 0, window = 0;
  double cost_s = 0;  // that is set aside for it
};

class Budget {
 public:
  explicit Budget(const BudgetOptions& options) : options_(options) {}  // checked ones

  // A plan, whose cost is set aside: ended() follows. Errors: busy (not now), denied (not this job any more):
  // with a sentence for a person.
  Result<CapturePlan> plan(const CaptureWish& wish);
  // A second capture right after the one under way, of other ranks for the same incident: both are one of the
  // limits' captures, and each is paid for. Errors: as plan().
  Result<CapturePlan> plan_more(const std::string& job, const CapturePlan& first, Ns at);
  // Nothing was begun of what plan() has set aside: as if it had not been asked for.
  void not_begun(const std::string& job, Ns at);
  // What they cost together, as the job's own steps say; nothing: not known, it cost what was planned, and
  // the next one is a first one, too. `aftermath`: steps after it to steps before.
  void ended(const std::string& job, Ns at, std::optional<double> cost_s, std::optional<double> overhead,
             std::optional<double> aftermath);
  // A process of it has gone, or it does not go on: no capture of it any more.
  void harmed(const std::string& job, std::string why);
  // So many captures of it are known after which it stayed slower, with those that ended() told of.
  void slower_after(const std::string& job, int captures);
  // A capture that was begun `at`, before this process or by another host that led the job until then: it
  // counts for the limits, and of a job that is not known here nothing was saved up then. Once, however often
  // it is said.
  void learn(const std::string& job, const std::string& family, Ns at);
  void pass(Ns at);  // jobs that nothing was asked for since days go
  // What a restarted agent cannot know: a job begins with nothing saved up.
  void begin_empty() { begins_empty_ = true; }

  double saved_s(const std::string& job, Ns at) const;

 private:
  // A capture that is under way, and what there was before it was planned.
  struct Planned {
    double cost_s = 0;
    Ns at = 0;
    std::string family = {};
    Ns family_before = 0, overdrawn_before = 0;  // 0: never
  };
  struct Job {
    double saved_s = 0;
    Ns as_of = 0;
    std::deque<Ns> captures = {};             // of the last day
    std::map<std::string, Ns> families = {};  // when one was made for it last
    std::optional<double> overhead = {};      // as measured
    std::optional<Planned> planned = {};
    Ns overdrawn = 0;         // when last
    bool has_passed = false;  // it went on after a capture
    int aftermaths = 0;       // that were slow
    std::string off = {};     // why there is none any more
  };
  static void judge_aftermaths(Job& job);
  Result<void> allows(const CaptureWish& wish, const Job& job) const;
  double cost_s(const CapturePlan& plan, const Job& job, double stall_s) const;
  CapturePlan plan_for(const CaptureWish& wish, const Job& job) const;
  Job& job_at(const std::string& name, Ns at, Ns age = 0);
  double saved_at(const Job& job, Ns at) const;

  BudgetOptions options_;
  bool begins_empty_ = false;
  std::map<std::string, Job> jobs_;
  Ns last_pass_ = 0;
};

}  // namespace spotter::respond
