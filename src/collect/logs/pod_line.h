// A line of a container's log as the kubelet has it: "2026-11-23T04:46:46.123456789Z stdout F text"; P in the
// place of F: the line goes on in the next one. CRI's format; that of Docker is another.
#pragma once
#include <optional>
#include <string_view>

#include "base/types.h"

namespace spotter::collect {

struct PodLine {
  std::optional<Ns> stamp;  // Unix time
  bool is_partial = false;
  bool is_error = false;  // it is of stderr
  std::string_view text;
};

// Nothing: it is none.
std::optional<PodLine> parse_pod_line(std::string_view line);

}  // namespace spotter::collect
