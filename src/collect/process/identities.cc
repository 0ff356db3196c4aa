#include "collect/process/identities.h"

#include <algorithm>
#include <cctype>

#include "base/saturated.h"
#include "base/system/file.h"
#include "base/text/utf8.h"
#include "base/text/words.h"
#include "base/time.h"
#include "collect/host/kernel_ticks.h"
#include "collect/values.h"
#include "process/process_stat.h"
#include "process/role.h"

namespace spotter::collect {
namespace {

constexpr size_t kMostKnown = 20'000, kMostNoticed = 4096, kMostJobs = 4096;
constexpr size_t kMostText = size_t{1} << 20;
constexpr Ns kReadAgain = kMinute, kSettled = 30 * kSecond, kOwnerLasts = kMinute, kLifeLasts = 2 * kSecond;
constexpr size_t kShownContainer = 12, kUuidDigits = 36;

// When a process began, in clock ticks after boot; the pid and this together are one process.
std::optional<i64> start_of(const Host& host, i64 pid) {
  const auto stat = process::read_stat(host, pid);
  return stat ? std::optional(stat->start_ticks) : std::nullopt;
}

// Anybody may write what he likes into his environment.
constexpr size_t kMostNodeList = size_t{64} << 10;

std::string shortened(const std::string& text) {
  constexpr size_t kMost = 128;
  return text.size() <= kMost ? text : to_printable(text.substr(0, kMost));
}

std::string variable(const process::ProcessFacts& facts, const char* name) {
  const auto it = facts.environment.find(name);
  return it == facts.environment.end() ? std::string() : shortened(to_printable(it->second));
}

}  // namespace

// The kubelet names a pod's group pod<uid>, with systemd's driver "_" for "-".
std::string pod_uid_of(std::string_view cgroup) {
  if (cgroup.find("kubepods") == cgroup.npos) return {};
  for (size_t at = cgroup.find("pod"); at != cgroup.npos; at = cgroup.find("pod", at + 1)) {
    std::string uid(cgroup.substr(at + 3, kUuidDigits));
    std::ranges::replace(uid, '_', '-');
    const bool is_uid = uid.size() == kUuidDigits && std::ranges::all_of(uid, [](unsigned char c) {
                          return std::isxdigit(c) || c == '-';
                        });
    if (is_uid) return uid;
  }
  return {};
}

std::optional<Identities::Life> Identities::life(i64 pid) {
  {
    std::lock_guard lock(lives_mutex_);
    const auto it = std::ranges::lower_bound(lives_, pid, {}, &std::pair<i64, Life>::first);
    if (it != lives_.end() && it->first == pid && host_.steady_now() - lives_told_ < kLifeLasts)
      return it->second;
  }
  const auto stat = process::read_stat(host_, pid);
  if (!stat) return {};
  return Life{.start_ticks = stat->start_ticks, .program = stat->program, .has_ended = stat->has_ended};
}

void Identities::set_lives(std::vector<std::pair<i64, Life>> lives) {
  std::lock_guard lock(lives_mutex_);
  lives_ = std::move(lives);
  lives_told_ = host_.steady_now();
}

Who Identities::who(i64 pid) {
  const auto stat = life(pid);  // first: what is read after an exec is then read again
  if (!stat) return {};
  const bool settled =
      subtract_saturated(host_.steady_now(), scaled(stat->start_ticks, ns_per_tick()).value_or(0)) > kSettled;
  std::optional<std::string> group_before;
  {
    std::lock_guard lock(known_mutex_);
    const auto it = known_.find(pid);
    if (it != known_.end() && it->second.start_ticks == stat->start_ticks) {
      const Known& known = it->second;
      // One that is ending has no memory any more that says who it was; a GPU may have it for long.
      const bool is_same = known.program == stat->program;
      if (stat->program == 0 || (is_same && (known.is_settled || !settled))) return known.who;
      if (is_same && known.who.job.empty() && !known.who.rank) group_before = known.who.cgroup;
    }
  }
  // One that is young and no job's becomes one, without another program, only by its control group.
  if (group_before && pod_uid_of(*group_before).empty() &&
      process::control_group_of(host_, pid) == *group_before) {
    std::lock_guard lock(known_mutex_);
    const auto it = known_.find(pid);
    if (it != known_.end() && it->second.start_ticks == stat->start_ticks) {
      it->second.is_settled = true;
      return it->second.who;
    }
  }
  // Without the lock: a process that hangs in a driver may keep who reads its memory waiting.
  const auto facts = process::read_process_briefly(host_, pid);
  if (!facts) return {};
  Result<process::ProcessFacts> parent = fail(Code::not_found, "not asked for");
  if (process::needs_parent(*facts)) parent = process::read_process_briefly(host_, facts->parent);
  std::lock_guard lock(known_mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  Who who = who_of(*facts, parent ? &*parent : nullptr);
  return known_.insert_or_assign(pid, Known{stat->start_ticks, stat->program, settled, std::move(who)})
      .first->second.who;
}

bool Identities::is_settled(i64 pid) {
  std::lock_guard lock(known_mutex_);
  const auto it = known_.find(pid);
  return it != known_.end() && it->second.is_settled;
}

process::JobFacts Identities::job_facts(const std::string& job) {
  std::lock_guard lock(known_mutex_);
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? process::JobFacts() : it->second;
}

void Identities::keep_facts(const std::string& job, process::JobFacts facts) {
  if (jobs_.size() >= kMostJobs && !jobs_.contains(job)) {
    jobs_.clear();
    known_.clear();  // those that run are looked up again
  }
  process::JobFacts& known = jobs_[job];
  using Fact = std::string process::JobFacts::*;
  for (const Fact fact :
       {&process::JobFacts::name, &process::JobFacts::account, &process::JobFacts::partition,
        &process::JobFacts::array_job, &process::JobFacts::array_task}) {
    if ((known.*fact).empty()) known.*fact = shortened(facts.*fact);
  }
  // Where its ranks are now: a job of that name may have begun anew, elsewhere. Nobody else's process says
  // so.
  if (known.uid < 0) known.uid = facts.uid;
  if (known.uid == facts.uid) {
    if (!facts.first_host.empty()) known.first_host = shortened(facts.first_host);
    // Of a thousand hosts with names of no pattern it is long, and half of it names others than it meant.
    if (!facts.node_list.empty() && facts.node_list.size() <= kMostNodeList)
      known.node_list = std::move(facts.node_list);
  }
  for (const auto& [label, value] : facts.labels) known.labels.try_emplace(label, shortened(value));
}

void Identities::notice(i64 pid) {
  const std::optional<i64> start = start_of(host_, pid);
  std::lock_guard lock(noticed_mutex_);
  if (!start || (noticed_.size() >= kMostNoticed && !noticed_.contains(pid))) return;
  if (std::exchange(noticed_[pid], *start) != *start) ++newcomers_;
}

std::vector<i64> Identities::noticed() {
  std::map<i64, i64> all;
  {
    std::lock_guard lock(noticed_mutex_);
    all = noticed_;
  }
  std::vector<i64> pids, gone;
  for (const auto& [pid, start] : all) {
    const auto now = life(pid);
    (now && now->start_ticks == start ? pids : gone).push_back(pid);
  }
  std::lock_guard lock(noticed_mutex_);
  for (const i64 pid : gone) {
    if (const auto it = noticed_.find(pid); it != noticed_.end() && it->second == all[pid])
      noticed_.erase(it);
  }
  return pids;
}

std::vector<i64> Identities::in_jobs() {
  std::vector<i64> pids;
  std::lock_guard lock(known_mutex_);
  for (const auto& [pid, known] : known_)
    if (!known.who.job.empty() || known.who.rank) pids.push_back(pid);
  std::ranges::sort(pids);
  return pids;
}

void Identities::set_gpu_owner(const std::string& uuid, const Who& owner) {
  std::lock_guard lock(gpus_mutex_);
  gpu_owners_[uuid] = {owner, host_.steady_now()};
}

Who Identities::gpu_owner(const std::string& uuid) {
  std::lock_guard lock(gpus_mutex_);
  const auto it = gpu_owners_.find(uuid);
  if (it == gpu_owners_.end() || host_.steady_now() - it->second.told > kOwnerLasts) return {};
  return it->second.owner;
}

Who Identities::who_of(const process::ProcessFacts& facts, const process::ProcessFacts* parent) {
  Who who;
  const process::Identity identity = process::identify(facts, parent);
  who.is_helper = identity.role == process::Role::helper;
  who.job = shortened(identity.job);
  if (!who.job.empty()) keep_facts(who.job, process::job_facts(facts, labels_));
  who.rank = who.is_helper ? process::inherited_rank(facts) : identity.rank;
  who.world_size = identity.world_size;
  who.uid = facts.uid;
  who.user = user_name(facts);
  who.cgroup = facts.cgroup;
  if (!facts.command.empty()) who.program = shortened(to_printable(base_name(facts.command[0])));
  who.container = facts.container.substr(0, kShownContainer);
  // What the pod was told itself counts only where the kubelet's folders are not to be seen.
  const std::string uid = pod_uid_of(facts.cgroup);
  if (!uid.empty()) {
    if (!pods_.contains(uid) || !pods_.contains(facts.container)) read_pods();
    if (const auto it = pods_.find(uid); it != pods_.end()) {
      who.pod = it->second.name;
      who.pod_namespace = it->second.name_space;
    } else {
      who.pod = variable(facts, "POD_NAME");
      if (who.pod.empty()) who.pod = variable(facts, "HOSTNAME");
      who.pod_namespace = variable(facts, "POD_NAMESPACE");
    }
    if (const auto it = pods_.find(facts.container); it != pods_.end())
      who.container_name = it->second.container;
  }
  return who;
}

// Users of a directory server are not in /etc/passwd: their processes say who they are. Anybody may say
// anything, but nobody passes for a user whom this machine knows, and a user keeps the name that was told
// first: else the rows of his processes would be those of several users.
std::string Identities::user_name(const process::ProcessFacts& facts) {
  if (facts.uid < 0) return {};
  if (std::string name = name_in_passwd(facts.uid); !name.empty()) return name;
  if (const auto it = told_users_.find(facts.uid); it != told_users_.end()) return it->second;
  std::string name;
  for (const char* word : {"SLURM_JOB_USER", "USER", "LOGNAME"}) {
    if (name.empty()) name = variable(facts, word);
    const bool is_taken =
        std::ranges::any_of(told_users_, [&](const auto& told) { return told.second == name; });
    if (user_names_.empty() || user_names_.contains(name) || is_taken) name.clear();
  }
  if (name.empty()) return fmt::format("{}", facts.uid);
  if (told_users_.size() >= kMostKnown) return name;
  return told_users_[facts.uid] = name;
}

// Not by getpwuid(3), which may ask a directory server and wait for it.
std::string Identities::name_in_passwd(i64 uid) {
  const Ns now = host_.steady_now();
  if (users_read_ == 0 || (!users_.contains(uid) && now - users_read_ > kReadAgain)) {
    users_read_ = now;
    users_.clear();
    user_names_.clear();
    const std::string text = read_small_file(host_.root + "/etc/passwd", kMostText).value_or("");
    for (std::string_view rest = text; !rest.empty();) {
      std::string_view line = next_line(rest);
      const std::string_view name = line.substr(0, line.find(':'));
      line.remove_prefix(std::min(name.size() + 1, line.size()));
      line.remove_prefix(std::min(line.find(':') + 1, line.size()));
      if (const auto number = to_integer(line.substr(0, line.find(':'))))
        users_.emplace(*number, to_printable(name));
      user_names_.insert(to_printable(name));
    }
  }
  const auto it = users_.find(uid);
  return it == users_.end() ? std::string() : it->second;
}

// /var/log/pods/<namespace>_<name>_<uid>/ and /var/log/containers/<pod>_<namespace>_<container>-<id>.log
void Identities::read_pods() {
  const Ns now = host_.steady_now();
  if (pods_read_ != 0 && now - pods_read_ < kReadAgain / 12) return;
  pods_read_ = now;
  pods_.clear();
  for (const std::string& name : names_in(host_.root + "/var/log/pods")) {
    const size_t first = name.find('_'), last = name.rfind('_');
    if (first == name.npos || first == last) continue;
    pods_[name.substr(last + 1)] = {name.substr(first + 1, last - first - 1), name.substr(0, first), {}};
  }
  for (const std::string& name : names_in(host_.root + "/var/log/containers")) {
    constexpr std::string_view kEnd = ".log";
    const size_t last = name.rfind('_'), dash = name.rfind('-');
    if (!name.ends_with(kEnd) || last == name.npos || dash == name.npos || dash < last) continue;
    const std::string id = name.substr(dash + 1, name.size() - dash - 1 - kEnd.size());
    pods_[id].container = name.substr(last + 1, dash - last - 1);
  }
}

}  // namespace spotter::collect
