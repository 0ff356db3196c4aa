// JobWrites: when the jobs of this host wrote a lot last, by the totals of their ranks in the table `job`: a
// job that saves its state makes no steps meanwhile. One thread.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "respond/rules/columns.h"
#include "respond/rules/rule.h"

namespace spotter::respond {

class JobWrites {
 public:
  static constexpr double kMuch = 50'000'000;  // bytes a second on a host

  explicit JobWrites(double much = kMuch) : much_(much) {}

  void see(const Sample& sample);  // of the table `job`
  // When it was seen to have written so much last; 0: not since somebody looks.
  Ns last(const std::string& job) const;

 private:
  struct Job {
    Ns at = 0;
    i64 total = 0;
    Ns last_busy = 0;
  };
  void add(Job& job, Ns at, i64 total) const;

  static constexpr const char* kNames[] = {"job", "write_bytes"};
  double much_;
  Columns columns_{kNames};
  std::map<std::string, Job, std::less<>> jobs_;
};

}  // namespace spotter::respond
