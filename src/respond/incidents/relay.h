// Relay: how the conditions of jobs that another host leads get there, and who is asked where that one does
// not answer. Of each job the hosts that may lead it are known, in order: the first one is told first; after
// 5 s without an answer the second, after 10 s the third; after 15 s this host goes on by itself. Whoever is
// not told by the first one asks it again every 30 s, and so does whoever has nothing more to tell of a job
// that something is open of. Nothing is lost: a condition is kept until somebody has it. One thread; no
// clock, no socket.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "respond/incidents/incident.h"

namespace spotter::respond {

// Who leads a job, in order; `own`: the place of this host, or as many as there are.
struct Leaders {
  std::vector<std::string> hosts = {};
  size_t own = 0;
  bool is_own() const { return own == 0; }
};

class Relay {
 public:
  static constexpr Ns kTurn = 5 * kSecond;         // that each one has to answer
  static constexpr size_t kMostTurns = 3;          // then this host goes on by itself
  static constexpr Ns kAgain = kSecond;            // between two questions to one that does not answer
  static constexpr Ns kFirstAgain = 30 * kSecond;  // to the first one, while another one leads
  static constexpr size_t kMostAtOnce = 64;        // conditions in a report
  static constexpr size_t kMostKept = 20'000;      // conditions of all jobs
  static constexpr size_t kMostErrands = 32;       // at once: a host that hangs costs the others little

  // What is to be told to whom now. answered() has to follow, once.
  struct Errand {
    std::string job = {}, to = {};
    size_t place = 0;
    std::vector<Condition> conditions = {};
    std::vector<Incident> incidents = {};  // that are handed over with it, by who sends it
    bool is_introduction = false;          // nothing else: who does not answer is not passed over for it
  };

  void put(const Condition& condition, const Leaders& leaders, Ns at);
  // The jobs of others that this host has open incidents of: who has to lead is asked whether it is there
  // again.
  void stand_in(const std::map<std::string, Leaders>& jobs, Ns at);
  // Jobs of which others lead what people wait for the end of: where nothing is to be told of one, who has it
  // is asked whether it is still there.
  void watch(const std::map<std::string, Leaders>& jobs, Ns at);
  // A job that has ranks here: who leads it is told so once, though nothing be wrong, so that it knows whom
  // to trace.
  void introduce(const std::string& job, const Leaders& leaders);
  // Whether it is this host's: nobody before it answers.
  bool leads(const std::string& job) const;
  // That of a job's leaders `place` is this host, under another name.
  void is_this_host(const std::string& job, size_t place);

  std::vector<Errand> pass(Ns at);  // each second, or more often
  void answered(const Errand& errand, bool is_taken, Ns at);
  // Those that nobody else has, or that are this host's: its own incidents take them.
  std::vector<Condition> own();

  bool has(const std::string& job) const { return jobs_.contains(job); }  // something of it
  i64 left_out() const { return left_out_; }

 private:
  struct Job {
    Leaders leaders;
    size_t place = 0;                                // who has it
    Ns waits_since = 0;                              // for an answer; 0: it does not
    Ns again = 0, first_again = 0, watch_again = 0;  // not before
    Ns asked = 0;                                    // last
    bool is_asking = false, stands_in = false, watches = false, introduces = false;
    std::map<u64, Condition> kept = {};  // firing ones, and ends that nobody has yet
    std::set<u64> unsent = {};           // of these
  };
  bool is_own(const Job& job) const;
  static bool asks_first(const Job& job, Ns at);  // whether the first one is there again
  static bool asks_on(const Job& job, Ns at);
  static void keep(Job& job, const Leaders& leaders);
  void give_own(Job& job);
  void set_back(Ns at);

  std::map<std::string, Job> jobs_;
  std::vector<Condition> own_;
  size_t count_ = 0, asking_ = 0;
  Ns last_pass_ = 0;
  i64 left_out_ = 0;
};

}  // namespace spotter::respond
