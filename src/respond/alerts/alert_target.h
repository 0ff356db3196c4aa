// Whom an alert is about: the job of this host that its labels name. By the first of these that names one:
//
//   spotter_job, job_id, slurm_job_id        a job; where it is not here the alert is nobody's
//   exported_job                             the same, but the name of a service, too: then what follows
//   spotter_rank                             a rank; beside a job it says which of its ranks
//   pod and namespace, with or without exported_ before them
//   instance, host, node, Hostname           this host, with gpu, UUID or device one of its GPUs
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "respond/alerts/alert.h"

namespace spotter::respond {

// A part of a job that is on this host: a process of it, or the GPU that it holds.
struct Resident {
  std::string job = {}, user = {};
  std::optional<i64> rank = {};
  std::string pod = {}, pod_namespace = {};
  std::optional<i64> gpu = {};
  std::string gpu_uuid = {};
};

struct AlertTarget {
  std::string job = {}, user = {};
  std::optional<i64> rank = {};
};

// Errors: not_found (nothing or more than one job is meant: "cannot tell whom", and what was tried).
Result<AlertTarget> target_of(const Alert& alert, std::span<const Resident> residents,
                              const std::string& host);

}  // namespace spotter::respond
