#include "respond/incident.h"

#include <fmt/format.h>

#include <string_view>

namespace spotter::respond {
namespace {

// FNV-1a, 64 bits.
u64 mixed(u64 hash, std::string_view name, std::string_view value) {
  const auto add = [&](std::string_view text) {
    for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211ULL;
  };
  add(name);
  add("=");
  add(value);
  add(std::string_view("\0", 1));
  return hash;
}

}  // namespace

u64 fingerprint(const Condition& condition) {
  u64 hash = 14695981039346656037ULL;
  hash = mixed(hash, "device", condition.device);
  hash = mixed(hash, "host", condition.host);
  hash = mixed(hash, "job", condition.job);
  hash = mixed(hash, "rank", condition.rank ? std::to_string(*condition.rank) : "");
  return mixed(hash, "rule", condition.rule);
}

std::string Incident::key() const {
  return job.id.empty() ? fmt::format("{}/host/{}/{}", cluster, host, family)
                        : fmt::format("{}/{}/{}", cluster, job.id, family);
}

std::string Incident::id() const {
  return fmt::format("{}-{}-{}", job.id.empty() ? host : job.id, family, n);
}

}  // namespace spotter::respond
