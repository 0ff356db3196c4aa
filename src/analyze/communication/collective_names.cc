#include "analyze/communication/collective_names.h"

#include <algorithm>

#include "base/text/utf8.h"

namespace spotter::analyze {
namespace {

// How much of a message of the algorithm's size crosses the link of each of n ranks.
enum class Traffic : u8 {
  none,        // it carries no message
  whole,       // all of it
  share,       // (n - 1) / n: all but the rank's own part
  two_shares,  // 2 (n - 1) / n: a reduce-scatter and an all-gather
};

struct Operation {
  std::string_view text;  // part of the name, in lower case and without underscores
  std::string_view name;
  Traffic traffic;
};

// The first whose text is in a name counts.
constexpr Operation kOperations[] = {
    {"reducescatter", "reduce_scatter", Traffic::share},
    {"allgather", "all_gather", Traffic::share},
    {"allreduce", "all_reduce", Traffic::two_shares},
    {"crossdevicereduce", "all_reduce", Traffic::two_shares},  // vLLM's own
    {"quickreduce", "all_reduce", Traffic::two_shares},
    {"alltoall", "all_to_all", Traffic::share},
    {"broadcast", "broadcast", Traffic::whole},
    {"barrier", "barrier", Traffic::none},
    {"gather", "gather", Traffic::share},
    {"scatter", "scatter", Traffic::share},
    {"reduce", "reduce", Traffic::whole},
};

// Without the return type before and the arguments behind.
std::string_view bare_name(std::string_view name) {
  constexpr std::string_view kVoid = "void ";
  if (name.starts_with(kVoid)) name.remove_prefix(kVoid.size());
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  size_t end = name.find_first_of("(<");
  while (end != name.npos && name.substr(end).starts_with(kUnnamed))
    end = name.find_first_of("(<", end + kUnnamed.size());
  return name.substr(0, end);
}

}  // namespace

bool is_point_to_point(std::string_view name) {
  const std::string lower = ascii_lower(name);
  return lower.find("send") != lower.npos || lower.find("recv") != lower.npos;
}

std::string operation_of(std::string_view name) {
  const std::string_view bare = bare_name(name);
  std::string plain = ascii_lower(bare);
  std::erase(plain, '_');
  const auto* known =
      std::ranges::find_if(kOperations, [&](const Operation& o) { return plain.find(o.text) != plain.npos; });
  return std::string(known == std::end(kOperations) ? bare : known->name);
}

bool gathers(std::string_view operation) { return operation == "all_gather" || operation == "gather"; }
bool scatters(std::string_view operation) { return operation == "reduce_scatter" || operation == "scatter"; }

bool waits_for_all(std::string_view operation) {
  constexpr std::string_view kMeet[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                        "barrier"};
  return std::ranges::find(kMeet, operation) != std::end(kMeet);
}

std::optional<double> bus_factor(std::string_view operation, i64 ranks) {
  const auto* known = std::ranges::find(kOperations, operation, &Operation::name);
  if (known == std::end(kOperations)) return std::nullopt;
  if (known->traffic == Traffic::whole) return 1;
  if (known->traffic == Traffic::none || ranks < 1) return std::nullopt;
  const double share = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  return known->traffic == Traffic::two_shares ? 2 * share : share;
}

}  // namespace spotter::analyze
