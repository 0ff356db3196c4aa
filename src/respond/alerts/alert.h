// Alert: what another program's rule says (Prometheus' Alertmanager, Grafana), as it came in. All its texts
// are somebody else's: they are compared and shown, and are never a path, a length of time or a command.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/types.h"

namespace spotter::respond {

// The rule and the family of the conditions that alerts become.
inline constexpr const char* kAlert = "alert";

struct Alert {
  std::string fingerprint = {};  // of its labels, by who sent it
  bool is_firing = true;
  Ns starts = 0;  // Unix time; with the fingerprint it is this alert once
  std::map<std::string, std::string> labels = {};
  std::string summary = {};

  // Empty: it has none of that name.
  std::string_view label(const std::string& name) const {
    const auto it = labels.find(name);
    return it == labels.end() ? std::string_view() : it->second;
  }
};

// What is sent at once.
struct AlertFrame {
  std::string sender = {};  // "alertmanager" or "grafana"
  i64 truncated = 0;        // alerts that were left out of it
  std::vector<Alert> alerts = {};
};

}  // namespace spotter::respond
