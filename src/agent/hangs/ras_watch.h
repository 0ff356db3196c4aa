// RasWatch: asks NCCL who is behind, of jobs that somebody suspects to wait for nothing: never of one that
// goes on, as an answer is gathered from all ranks. What it says is a table that rules see as any other. The
// loop's thread.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/hangs/ask_ras.h"
#include "agent/jobs/job_ranks.h"
#include "base/system/host.h"
#include "kineto/registry.h"
#include "net/loop.h"
#include "table/batch.h"

namespace spotter::agent {

class RasWatch {
 public:
  // All of them outlive this. `take` gets what NCCL has said.
  struct Parts {
    net::Loop& loop;
    const Host& host;
    const std::string& host_name;
    const kineto::Registry& registry;
    collect::Identities& identities;
    std::function<void(const Batch&)> take;
  };
  explicit RasWatch(Parts parts) : parts_(std::move(parts)) {}

  struct Suspected {
    std::string user;
    i64 world_size = 0;
  };
  void pass(const std::map<std::string, Suspected>& suspected);  // by job; each second or two

  // Of a job that was asked: whether all ranks have launched the same, as of the last answer; and why there
  // is none, if there is none.
  struct Said {
    bool has_answered = false, is_even = false;
    std::string refusal = {};
  };
  Said said(const std::string& job) const;

 private:
  struct Job {
    std::unique_ptr<AskRas> ras;
    Said said = {};
    Ns suspected = 0, next = 0;  // the loop's clock
  };
  struct Place {
    std::string address;
    i64 uid = -1;
  };
  Result<Place> place_of(const std::string& name, const std::vector<JobRank>& here) const;
  void ask(const std::string& name, Job& job, const Suspected& suspected);
  void answered(const std::string& name, const Suspected& suspected, Result<wire::RasAnswer> answer);

  Parts parts_;
  std::map<std::string, Job> jobs_;
};

}  // namespace spotter::agent
