// RankWaits: what ranks on this host that stand still do, as its kernel sees it, looked at twice a second
// apart: for the evidence of a hang where it is led here, and for what is told to who leads it elsewhere. The
// loop's thread; /proc is looked at on others, since a process may hang there as well.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/system/host.h"
#include "base/system/side_threads.h"
#include "collect/process/identities.h"
#include "net/loop.h"
#include "respond/hang.h"

namespace spotter::agent {

// Takes a second. At most 64 of them. Any thread.
std::vector<respond::HostedRank> look_at_ranks(const Host& host, const std::string& host_name,
                                               collect::Identities& identities, const std::string& job);

class RankWaits {
 public:
  // All of them outlive this. `tell`: gets each condition once, with its kernel_wait where it is known.
  struct Parts {
    net::Loop& loop;
    const Host& host;
    const std::string& host_name;
    std::shared_ptr<collect::Identities> identities;
    std::function<void(const respond::Condition&)> tell;
  };
  explicit RankWaits(Parts parts) : parts_(std::move(parts)), post_(parts_.loop.poster()) {}

  // Of a rank on this host, or of a job's ranks here. Those of one job that come while it is looked at have
  // that look; one that takes longer than 3 s is not waited for.
  void add(const respond::Condition& condition);

 private:
  struct Look {
    std::vector<respond::Condition> waiting = {};
    bool is_late = false;
    std::unique_ptr<net::Timer> patience = {};
  };
  void looked(const std::string& job, const std::vector<respond::HostedRank>& ranks);
  void give_up(const std::string& job);

  Parts parts_;
  std::function<void(std::function<void()>)> post_;
  const SideThreads threads_ = SideThreads(2);
  std::map<std::string, Look> looks_;  // by job: those under way
  std::shared_ptr<const int> alive_ = std::make_shared<const int>();
};

}  // namespace spotter::agent
