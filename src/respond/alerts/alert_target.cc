#include "respond/alerts/alert_target.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <string_view>

#include "base/same_host.h"
#include "base/text/number.h"
#include "base/text/utf8.h"

namespace spotter::respond {
namespace {

using Matches = std::function<bool(const Resident&)>;

class Search {
 public:
  Search(const Alert& alert, std::span<const Resident> residents, const std::string& host)
      : alert_(alert), residents_(residents), host_(host) {}

  Result<AlertTarget> run() {
    for (const char* name : {"spotter_job", "job_id", "slurm_job_id"}) {
      const std::string_view job = alert_.label(name);
      if (!job.empty()) return by_job(name, job) ? found() : cannot_tell();
    }
    if (const std::string_view job = alert_.label("exported_job");
        !job.empty() && by_job("exported_job", job))
      return found();
    if (const auto wanted = rank()) {
      if (by(fmt::format("spotter_rank={}", *wanted), [&](const Resident& r) { return r.rank == wanted; }))
        return found();
      return cannot_tell();
    }
    for (const char* before : {"", "exported_"}) {
      const std::string pod(alert_.label(std::string(before) + "pod")),
          space(alert_.label(std::string(before) + "namespace"));
      if (pod.empty() || space.empty()) continue;
      if (by(fmt::format("{}pod={}, {}namespace={}", before, pod, before, space),
             [&](const Resident& r) { return r.pod == pod && r.pod_namespace == space; }))
        return found();
    }
    for (const char* name : {"instance", "host", "node", "Hostname"}) {
      const std::string_view host = alert_.label(name);
      if (host.empty()) continue;
      if (!is_this_host(host))
        tried_.push_back(fmt::format("{}={} is not this host, {}", name, host, host_));
      else
        return by_host(name, host) ? found() : cannot_tell();
    }
    return cannot_tell();
  }

 private:
  std::optional<i64> rank() const { return number_in<i64>(alert_.label("spotter_rank")); }

  bool by_job(const char* name, std::string_view job) {
    return by(fmt::format("{}={}", name, job), [&](const Resident& r) { return r.job == job; });
  }

  bool by_host(const char* name, std::string_view host) {
    std::string tried = fmt::format("{}={}", name, host);
    for (const char* label : {"UUID", "gpu", "device"}) {
      const std::string gpu(alert_.label(label));
      if (gpu.empty()) continue;
      const std::optional<i64> index = index_of(gpu);
      // A device that is no GPU says nothing about whose it is.
      if (std::string_view(label) == "device" && !index && !gpu.starts_with("GPU-")) continue;
      return by(fmt::format("{}, {}={}", tried, label, gpu), [&](const Resident& r) {
        return (index && r.gpu == index) || (!r.gpu_uuid.empty() && r.gpu_uuid == gpu);
      });
    }
    return by(std::move(tried), [](const Resident&) { return true; });
  }

  // "5", "nvidia5", "gpu5"
  static std::optional<i64> index_of(std::string_view text) {
    for (const std::string_view before : {"nvidia", "gpu"}) {
      if (text.starts_with(before)) text.remove_prefix(before.size());
    }
    return number_in<i64>(text);
  }

  // A port is no part of its name.
  bool is_this_host(std::string_view name) const {
    return is_same_host(name.substr(0, name.find(':')), host_);
  }

  bool by(std::string tried, const Matches& matches) {
    std::set<std::string> jobs;
    for (const Resident& r : residents_) {
      if (r.job.empty() || !matches(r)) continue;
      jobs.insert(r.job);
      target_.job = r.job;
      if (target_.user.empty()) target_.user = r.user;
    }
    if (jobs.size() == 1) return true;
    target_ = {};
    tried_.push_back(jobs.empty() ? tried + " is of no job here"
                                  : fmt::format("{} is of {} jobs here", tried, jobs.size()));
    return false;
  }

  AlertTarget found() {
    target_.rank = rank();
    return target_;
  }

  Result<AlertTarget> cannot_tell() const {
    if (tried_.empty())
      return fail(Code::not_found,
                  "cannot tell whom: no label of it names a job, a rank, a pod or this host");
    return fail(Code::not_found, "cannot tell whom: {}", fmt::join(tried_, "; "));
  }

  const Alert& alert_;
  const std::span<const Resident> residents_;
  const std::string& host_;
  AlertTarget target_;
  std::vector<std::string> tried_;
};

}  // namespace

Result<AlertTarget> target_of(const Alert& alert, std::span<const Resident> residents,
                              const std::string& host) {
  return Search(alert, residents, host).run();
}

}  // namespace spotter::respond
