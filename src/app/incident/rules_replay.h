// What the rules would have said of the samples that agents remember: `spotter rules test`.
#pragma once
#include <string>

#include "app/capture/hosts.h"
#include "render/list.h"

namespace spotter::app {

struct RulesTestOptions {
  HostOptions hosts = {};
  const render::Format* format = &render::kText;
  Ns since = 0;             // how long ago
  std::string job = {};     // empty: of all jobs and hosts
  std::string config = {};  // whose rules are tried; empty: those of each agent
};

Result<int> test_rules(const RulesTestOptions& options);

}  // namespace spotter::app
