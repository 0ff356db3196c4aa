// JobDetails: what the schedulers of the jobs on this host say of them: the tables job_allocation and
// job_label.
#pragma once
#include <map>
#include <span>
#include <string>

#include "collect/process/identities.h"
#include "table/table.h"

namespace spotter::collect {

std::span<const Field> allocation_columns();
std::span<const Field> label_columns();

class JobDetails {
 public:
  // From now on the jobs are these, with so many processes each.
  void know(const std::map<std::string, i64>& processes, Identities& identities);
  Table allocations() const;
  Table labels() const;

 private:
  struct Job {
    i64 processes = 0;
    process::JobFacts facts;
  };
  std::map<std::string, Job> jobs_;
};

}  // namespace spotter::collect
