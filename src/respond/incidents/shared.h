// Shared conditions: where three or more jobs of this host have conditions of one family that began within
// two minutes, something of the host is the likelier cause than the jobs are: they are one incident of
// several jobs beside those of each. A host sees its own conditions of all jobs that run on it, whoever leads
// them, so that it alone knows. One thread; no clock.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "respond/incidents/incident.h"

namespace spotter::respond {

class SharedConditions {
 public:
  static constexpr size_t kLeast = 3;             // jobs
  static constexpr Ns kTogether = 2 * kMinute;    // between their beginnings
  static constexpr size_t kMost = 10'000;         // conditions of all of them
  static constexpr Ns kForgotten = 10 * kMinute;  // a condition that is said no more

  // Whether it is this host that tells of what those jobs share.
  using Speaks = std::function<bool(const std::string& family, const std::vector<std::string>& jobs)>;
  explicit SharedConditions(Speaks speaks) : speaks_(std::move(speaks)) {}

  struct Words {
    std::vector<Condition> shared = {};  // for the incident that they share: one of each job
    std::vector<Condition> again = {};   // of jobs that have just joined, for their own incidents
  };
  // One of this host's own. Alerts are not looked at: who sends them has grouped them.
  Words take(const Condition& condition);
  // An incident of before this process: its jobs are in it.
  void restore(const Incident& incident, Ns at);
  void pass(Ns at);

  bool is_shared(const Condition& condition) const;                // whether its job is one of several
  std::vector<std::string> jobs(const std::string& family) const;  // that share what fires
  i64 left_out() const { return left_out_; }

 private:
  struct Job {
    std::map<u64, Condition> firing = {};
    std::optional<Condition> told = {};  // the one of them that the shared incident has
    bool is_joined = false;              // also while it is quiet, as long as others of them fire
    Ns since = 0;                        // the earliest of those that fire
    void find_since();
  };
  using Jobs = std::map<std::string, Job>;

  std::vector<std::string> beside(const Jobs& jobs, const std::string& name) const;
  void join(const std::string& family, Jobs& jobs, const std::string& name, Words& words);
  static void tell(Job& job, Words& words);
  static void part(Jobs& jobs);

  Speaks speaks_;
  std::map<std::string, Jobs> families_;
  // By family: of whom another host tells. For a minute.
  std::map<std::string, std::vector<std::string>> refused_;
  size_t count_ = 0;
  Ns passed_ = 0;
  i64 left_out_ = 0;
};

}  // namespace spotter::respond
