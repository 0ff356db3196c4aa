// Identities: who a process is, beyond its pid: the job of a scheduler or launcher, rank, user, container,
// pod. Read once for each process and kept while it lives. Any thread.
#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/host.h"
#include "base/types.h"

namespace spotter::collect {

struct Who {
  std::string job;  // of the scheduler or launcher; empty: none
  std::optional<i64> rank, world_size, local_rank;
  std::string user;                                // name, or the number where it has none
  std::string container;                           // the first 12 digits of its id
  std::string pod, pod_namespace, container_name;  // of Kubernetes
  bool is_worker = false;                          // a launcher or a worker of another process
};

class Identities {
 public:
  explicit Identities(Host host) : host_(std::move(host)) {}

  // Empty of a process that is not there, or of which nothing may be read.
  Who who(i64 pid);

 private:
  Host host_;
  std::mutex mutex_;
  std::unordered_map<i64, Who> known_;
};

}  // namespace spotter::collect
