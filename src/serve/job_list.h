// JobList: the jobs that there are now, how they are, and who waits for news of them. On the loop's thread.
#pragma once
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/loop.h"
#include "serve/job.h"
#include "table/table.h"

namespace spotter::serve {

// What reading all of a job told.
struct Learned {
  std::optional<Ns> start;                          // of the first span, Unix time
  std::map<std::string, std::optional<i64>> ranks;  // of each trace file, by path
  std::map<std::string, std::string> hosts;
  std::string source_url;        // as receipts tell
  std::string worst, finding;    // the first of its findings: its kind, and what it says; none: there is none
  std::optional<double> share;   // and what it costs of a step
  std::optional<Error> failure;  // then there is nothing else
};

class JobList {
 public:
  // `perfetto_url`: a copy of Perfetto's page that is told to all; empty: none.
  explicit JobList(net::Loop& loop, std::string perfetto_url = {})
      : loop_(loop), perfetto_url_(std::move(perfetto_url)) {}
  JobList(const JobList&) = delete;
  JobList& operator=(const JobList&) = delete;

  void set(std::vector<JobPtr> jobs);
  JobPtr find(const std::string& id) const;           // nullptr: there is none
  const Learned* learned(const FoundJob& job) const;  // nullptr: nothing yet
  void learn(const FoundJob& job, Learned learned);
  void is_read(const FoundJob& job, bool now);  // all of it, which takes its time

  // The trace file of a rank, or of none; nullptr: there is none.
  const JobFile* file_of(const FoundJob& job, std::optional<i64> rank) const;

  // Changes with every news of the job, or of any; 0: it is gone.
  i64 revision(const std::string& id) const;
  i64 revision() const { return revision_; }
  // Acts once the revision is another than `seen`, of a job or (empty `id`) of any, or `wait` is over. What
  // it returns forgets the waiter.
  std::function<void()> wait(const std::string& id, i64 seen, Ns wait, std::function<void()> act);

  // Tables `jobs` (of one job alone if it is named), `facts` and `ranks`.
  Table jobs(const FoundJob* only = nullptr) const;
  Table facts(const FoundJob& job) const;
  Table ranks(const FoundJob& job) const;

 private:
  struct Entry {
    JobPtr job;
    std::optional<Learned> learned;
    int readers = 0;
    i64 revision = 0;
  };
  struct Waiter {
    std::string id;
    i64 seen;
    std::function<void()> act;
    net::Timer timer;
  };
  Entry* entry(const FoundJob& job);  // nullptr: there is another version by now
  const Entry* entry(const FoundJob& job) const;
  const char* state(const Entry& entry) const;
  std::vector<std::optional<i64>> rank_of_files(const FoundJob& job) const;
  void changed(Entry& entry);
  void tell();

  net::Loop& loop_;
  const std::string perfetto_url_;
  std::map<std::string, Entry> entries_;  // by id
  std::vector<std::string> order_;        // ids
  i64 revision_ = 1;
  std::list<std::shared_ptr<Waiter>> waiters_;
};

}  // namespace spotter::serve
