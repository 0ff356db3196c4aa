#include "kineto/registry.h"

#include <algorithm>
#include <chrono>
#include <memory>

namespace spotter::kineto {
namespace {

constexpr size_t kMostAncestors = 16;
constexpr int kMostReaders = 8;
constexpr int kTorchPatienceMs = 50;
// So often a worker is looked at, less often the longer it has been there.
constexpr Ns kFirstLook = 2 * kSecond;
constexpr Ns kPartOfAge = 4;

template <class T>
bool has(const std::vector<T>& list, i64 value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

Process Registry::identified(process::ProcessFacts facts) const {
  Process process;
  Result<process::ProcessFacts> parent = fail(Code::not_found, "not asked for");
  if (process::needs_parent(facts)) parent = process::read_process(host_, facts.parent);
  process.identity = process::identify(facts, parent ? &*parent : nullptr);
  for (i64 pid = facts.parent; pid > 1 && process.ancestors.size() < kMostAncestors;
       pid = process::parent_of(host_, pid))
    process.ancestors.push_back(pid);
  process::keep_what_is_asked_later(facts);
  process.facts = std::move(facts);
  return process;
}

// The name of a client's socket is random, so a known name is a known process, and /proc need not be read; a
// new name under a known pid is another process, or the same one after exec().
Result<Process*> Registry::seen(const Credentials& sender, std::string_view address, const Poll& poll,
                                Ns now) {
  auto it = processes_.find(sender.pid);
  if (it == processes_.end() || it->second.address != address) {
    if (it == processes_.end()) TRY(has_room(sender));
    TRY_ASSIGN(process::ProcessFacts facts, process::read_process(host_, sender.pid));
    Process process = identified(std::move(facts));
    process.facts.uid = sender.uid;
    process.address = address;
    process.first_poll = process.read = now;
    process.next_look = now + kFirstLook;
    add_ended_ancestors(process, poll);
    it = processes_.insert_or_assign(sender.pid, std::move(process)).first;
  }
  Process& process = it->second;
  process.poll = poll;
  process.last_poll = now;
  ++process.polls;
  // Mostly the answer comes at once, and who asks what a job is like wants it from the beginning.
  const auto patience = std::chrono::milliseconds(process.is_torch_asked ? 0 : kTorchPatienceMs);
  if (!process.is_torch_asked) ask_for_torch(process);
  if (process.torch_version.valid() && process.torch_version.wait_for(patience) == std::future_status::ready)
    process.facts.torch_version = process.torch_version.get();
  look_for_gpu(process, now);
  return &process;
}

Result<void> Registry::has_room(const Credentials& sender) const {
  if (processes_.size() >= kMost)
    return fail(Code::denied, "process {} is one too many; {} are registered already", sender.pid, kMost);
  // Containers are mostly root's, all of them.
  if (processes_.size() < kMostOfUser || sender.uid == 0) return {};
  const auto is_theirs = [&](const auto& entry) { return entry.second.facts.uid == sender.uid; };
  if (static_cast<size_t>(std::ranges::count_if(processes_, is_theirs)) >= kMostOfUser)
    return fail(Code::denied, "process {} is one too many; {} of user {} are registered already", sender.pid,
                kMostOfUser, sender.uid);
  return {};
}

// Anybody may name the pid of somebody else's process: of those that are there the kernel says whose they
// are.
void Registry::add_ended_ancestors(Process& process, const Poll& poll) const {
  if (process.facts.inner_pid != process.facts.pid) return;  // it sees other numbers than we do
  for (const i64 pid : poll.pids) {
    if (process.ancestors.size() >= kMostAncestors) return;
    const bool is_known = pid == process.facts.pid || has(process.ancestors, pid);
    if (pid > 1 && !is_known && process::parent_of(host_, pid) == 0) process.ancestors.push_back(pid);
  }
}

// Its folder may be on a file server that does not answer.
void Registry::ask_for_torch(Process& process) {
  if (!process.facts.has_torch) return;
  std::promise<std::string> promise;
  process.torch_version = promise.get_future();
  const auto told = std::make_shared<std::promise<std::string>>(std::move(promise));
  const SideThreads& readers = torch_readers_.try_emplace(process.facts.uid, kMostReaders).first->second;
  process.is_torch_asked =
      readers.run([told, host = host_, pid = process.facts.pid, folder = process.facts.torch_folder] {
        told->set_value(process::read_torch_version(host, pid, folder));
      });
  if (!process.is_torch_asked) process.torch_version = {};
}

void Registry::look_for_gpu(Process& process, Ns now) {
  if (process.identity.role != process::Role::helper || now < process.next_look) return;
  process.next_look = now + std::max(kFirstLook, (now - process.first_poll) / kPartOfAge);
  if (process::needs_parent(process.facts) && process::has_gpu_open(host_, process.facts.pid))
    read_again(process, now);
}

Process* Registry::find(i64 pid) {
  const auto it = processes_.find(pid);
  return it == processes_.end() ? nullptr : &it->second;
}

void Registry::refresh(Ns now, size_t most) {
  std::vector<Process*> stale;
  for (auto& [pid, process] : processes_) {
    if (now - process.read > kStale) stale.push_back(&process);
  }
  const auto older = [](const Process* a, const Process* b) { return a->read < b->read; };
  const size_t n = std::min(most, stale.size());
  std::partial_sort(stale.begin(), stale.begin() + static_cast<std::ptrdiff_t>(n), stale.end(), older);
  stale.resize(n);
  for (Process* process : stale) read_again(*process, now);
}

void Registry::read_again(Process& process, Ns now) {
  process.read = now;
  Result<process::ProcessFacts> facts = process::read_process(host_, process.facts.pid);
  if (!facts || facts->start_ticks != process.facts.start_ticks) return;  // it is ending: gone() will come
  const i64 uid = process.facts.uid;
  std::string version = std::move(process.facts.torch_version);
  Process fresh = identified(std::move(*facts));
  process.identity = std::move(fresh.identity);
  process.facts = std::move(fresh.facts);
  process.facts.uid = uid;
  process.facts.torch_version = std::move(version);
}

namespace {

// `is_among(list, number)`: whether a list of the target has it.
template <class F>
bool matches(const Process& p, const Target& target, F is_among) {
  if (!target.helpers && p.identity.role == process::Role::helper) return false;
  if (!target.job.empty() && target.job != p.identity.job && target.job != std::to_string(p.poll.job_id))
    return false;
  if (!target.ranks.empty() && !(p.identity.rank && is_among(target.ranks, *p.identity.rank))) return false;
  if (target.pids.empty()) return true;
  const auto is_named = [&](i64 pid) { return is_among(target.pids, pid); };
  return is_named(p.facts.pid) || std::ranges::any_of(p.ancestors, is_named);
}

}  // namespace

bool matches(const Process& p, const Target& target) { return matches(p, target, &has<i64>); }

// A request may name half a million, and there may be thousands of processes.
std::vector<Process*> Registry::matching(Target target) {
  std::ranges::sort(target.pids);
  std::ranges::sort(target.ranks);
  std::vector<Process*> found;
  for (auto& [pid, process] : processes_)
    if (matches(process, target, [](const auto& list, i64 n) { return std::ranges::binary_search(list, n); }))
      found.push_back(&process);
  return found;
}

}  // namespace spotter::kineto
