// Identities: who a process is, beyond its pid: the job of a scheduler or launcher, rank, user, container,
// pod. Told from its environment, its control group, and what the kubelet has on disk; read once for each
// program that a process runs, and kept while it does.
//
// Any thread may call any function. Four mutexes, of which no thread ever holds two, keep four things
// apart: who is known, with all that names are looked up in; who was noticed; whose the GPUs are; who lives.
// A process's files are read under none of them: one that hangs in a driver keeps only those waiting who ask
// for it. The files of the machine (users, pods), which are on a local disk, are read under the first.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/system/host.h"
#include "base/types.h"
#include "process/process_facts.h"
#include "process/scheduler.h"

namespace spotter::collect {

struct Who {
  std::string job;  // of the scheduler or launcher; empty: none
  std::optional<i64> rank, world_size;
  i64 uid = -1;
  std::string user;                                // name, or the number where it has none
  std::string container;                           // the first 12 digits of its id
  std::string pod, pod_namespace, container_name;  // of Kubernetes
  std::string cgroup;                              // path of its control group
  std::string program;                             // base name of what it runs
  bool is_helper = false;                          // a launcher or a worker of another process
};

// The uid of the pod that a control group is of; empty: of none.
std::string pod_uid_of(std::string_view cgroup);

class Identities {
 public:
  // `labels`: variables of the environment that job_facts() is to tell.
  explicit Identities(Host host, std::vector<std::string> labels = {})
      : host_(std::move(host)), labels_(std::move(labels)) {}

  // Which process has a pid now, and what it runs.
  struct Life {
    i64 start_ticks = 0;
    u64 program = 0;  // both of process::ProcessStat
    bool has_ended = false;
  };
  // As it was told less than two seconds ago, else as the kernel says. Nothing: there is none.
  std::optional<Life> life(i64 pid);
  // Whoever reads of processes all the time tells what it has read, in the order of their pids: each read of
  // /proc/PID/stat costs a microsecond for each thread, and others want to know the same.
  void set_lives(std::vector<std::pair<i64, Life>> lives);

  // Empty of a process that is not there, or of which nothing may be read.
  Who who(i64 pid);

  // Whether the process had run for a while when it was looked up: until then it may yet be put into a
  // control group, and what the kubelet writes about it may come.
  bool is_settled(i64 pid);

  // What the processes of a job say of it: each fact as the first of them did. Empty of a job of which no
  // process has been looked up.
  process::JobFacts job_facts(const std::string& job);

  // A process that matters though it may have no job: it holds a GPU, or asks for captures.
  void notice(i64 pid);
  std::vector<i64> noticed();  // those that still exist, in order
  // Grows with each newcomer: whoever has seen them all need not read of each of them again.
  u64 newcomers() const { return newcomers_; }

  // Processes with a job or a rank, launchers and workers among them, that somebody has looked up (`process`
  // does), in order. Some may have ended.
  std::vector<i64> in_jobs();

  // Whose a GPU is, by its UUID: the collector that sees its processes tells those that do not.
  void set_gpu_owner(const std::string& uuid, const Who& owner);
  Who gpu_owner(const std::string& uuid);  // empty: nobody has told for a minute

 private:
  struct Known {
    i64 start_ticks;
    u64 program;  // of process::ProcessStat
    bool is_settled;
    Who who;
  };
  // Of Kubernetes, by the id of a pod or of a container.
  struct Pod {
    std::string name, name_space, container;
  };
  struct GpuOwner {
    Who owner;
    Ns told;
  };
  // The caller holds known_mutex_.
  Who who_of(const process::ProcessFacts& facts, const process::ProcessFacts* parent);
  std::string user_name(const process::ProcessFacts& facts);
  std::string name_in_passwd(i64 uid);  // empty: it has none
  void read_pods();
  void keep_facts(const std::string& job, process::JobFacts facts);

  const Host host_;
  const std::vector<std::string> labels_;

  std::mutex known_mutex_;  // of what follows, down to the next mutex
  std::unordered_map<i64, Known> known_;
  std::map<i64, std::string> told_users_;  // whom /etc/passwd does not have
  std::map<i64, std::string> users_;
  std::set<std::string, std::less<>> user_names_;
  std::map<std::string, Pod, std::less<>> pods_;
  std::map<std::string, process::JobFacts> jobs_;
  Ns users_read_ = 0, pods_read_ = 0;  // when; 0: never

  std::mutex noticed_mutex_;
  std::map<i64, i64> noticed_;  // pid -> its start in ticks
  std::atomic<u64> newcomers_ = 0;

  std::mutex lives_mutex_;
  std::vector<std::pair<i64, Life>> lives_;
  Ns lives_told_ = 0;

  std::mutex gpus_mutex_;
  std::map<std::string, GpuOwner> gpu_owners_;  // by UUID
};

}  // namespace spotter::collect
