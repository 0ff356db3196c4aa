#include "respond/incidents/incident.h"

#include <fmt/format.h>

#include <string_view>

#include "base/fnv.h"

namespace spotter::respond {
namespace {

u64 mixed(u64 hash, std::string_view name, std::string_view value) {
  return fnv1a(std::string_view("\0", 1), fnv1a(value, fnv1a("=", fnv1a(name, hash))));
}

}  // namespace

u64 fingerprint(const Condition& condition) {
  u64 hash = mixed(fnv1a({}), "device", condition.device);
  hash = mixed(hash, "host", condition.host);
  hash = mixed(hash, "job", condition.job);
  hash = mixed(hash, "rank", condition.rank ? std::to_string(*condition.rank) : "");
  hash = mixed(hash, "rule", condition.rule);
  return condition.is_shared ? mixed(hash, "shared", "") : hash;
}

std::string Incident::key() const {
  if (shared_by) return fmt::format("{}/{}/{}/shared", cluster, host, family);
  return job.id.empty() ? fmt::format("{}/host/{}/{}", cluster, host, family)
                        : fmt::format("{}/{}/{}", cluster, job.id, family);
}

std::string Incident::namesake_key() const {
  Incident other{.cluster = cluster, .family = family};
  job.id.empty() ? other.job.id = host : other.host = job.id;
  return shared_by ? key() : other.key();
}

Incident begun_by(const std::string& cluster, const Condition& condition) {
  Incident incident{.cluster = cluster, .family = condition.family};
  if (condition.is_shared)
    incident.shared_by.emplace();
  else
    incident.job.id = condition.job;
  if (incident.job.id.empty()) incident.host = condition.host;
  return incident;
}

std::string incident_key(const std::string& cluster, const Condition& condition) {
  return begun_by(cluster, condition).key();
}

std::string Incident::id() const {
  if (shared_by) return fmt::format("{}-{}-{}-shared", host, family, n);
  return fmt::format("{}-{}-{}", job.id.empty() ? host : job.id, family, n);
}

}  // namespace spotter::respond
