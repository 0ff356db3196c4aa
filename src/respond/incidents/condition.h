// Condition: that something is not as it should be with a job, a part of it or a host: what a rule says,
// with the numbers that it was judged by. It travels from the host that sees it to the one that leads.
#pragma once
#include <optional>
#include <string>

#include "base/time.h"
#include "base/types.h"

namespace spotter::respond {

enum class Urgency : u8 { info, warning, critical };

struct Condition {
  std::string rule = {};  // its name, as in list.h
  std::string family = {};
  Urgency urgency = Urgency::warning;
  // What it is of; what does not apply is empty.
  std::string job = {}, user = {};
  std::string host = {};
  std::optional<i64> rank = {};
  std::string device = {};  // "gpu 5", "mlx5_0 port 1", "/data"
  // Firing, or over: the last word of it.
  bool is_firing = true;
  bool is_flapping = false;  // it comes and goes: no reason for a capture
  Ns since = 0, at = 0;      // when it began, and when this was said: Unix time
  // How it was judged. Of the unit's kind; nothing where the rule has no number.
  std::optional<double> value = {}, baseline = {};
  std::string unit = {};  // "s", "Hz", "ratio", "count", "per_s"
  std::optional<double> spreads = {};
  std::optional<i64> step = {};  // since which step
  std::string source = {};       // who said so: "profilerStep", "log:megatron", "nvml"
  std::string text = {};         // a line of a log: text of a job, untrusted; at most 200 bytes
  std::string kernel_wait = {};  // of a rank that stands still, what it does there (hang.h); mostly empty
  bool no_capture = false;       // whoever says it wants none
  // The id of the incident that several jobs of its host share, where it is of one of them (shared.h).
  std::string shared_incident = {};
  bool is_shared = false;      // it is in that one, not in its job's own; not said to other hosts
  bool is_new_normal = false;  // over, since it is what is usual now, and nothing was mended
  bool is_unheard = false;     // over for who says it, since it cannot be looked at any more: it may go on
  bool has_job_ended = false;  // over, since its job ended or began anew: nobody knows of anything mended
};

// What makes it the same condition when it is told again: FNV-1a of rule, job, host, rank and device,
// and whether several jobs share it.
u64 fingerprint(const Condition& condition);

inline const char* urgency_name(Urgency urgency) {
  constexpr const char* kNames[] = {"info", "warning", "critical"};
  return kNames[static_cast<size_t>(urgency)];
}

}  // namespace spotter::respond
