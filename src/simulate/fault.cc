#include "simulate/fault.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/number.h"
#include "base/suggestion.h"

namespace spotter::simulate {
namespace {

std::optional<NumberRange> range(std::string_view text, i64 last_step) {
  if (text == "all") return NumberRange{};
  if (text == "last") return NumberRange{last_step, last_step};
  const size_t dash = text.find('-');
  const auto first = number_in<i64>(text.substr(0, dash));
  if (!first || *first < 0) return std::nullopt;
  if (dash == text.npos) return NumberRange{*first, *first};
  if (dash + 1 == text.size()) return NumberRange{*first};
  const auto last = number_in<i64>(text.substr(dash + 1));
  if (!last || *last < *first) return std::nullopt;
  return NumberRange{*first, *last};
}

bool set_range(NumberRange& to, std::string_view text, i64 last_step) {
  const auto value = range(text, last_step);
  if (value) to = *value;
  return value.has_value();
}

bool set_factor(double& to, std::string_view text, double least, double most, double plus = 0) {
  const auto value = number_in<double>(text);
  if (value && *value >= least && *value <= most) to = *value + plus;
  return value && *value >= least && *value <= most;
}

bool set_ms(Ns& to, std::string_view text) {
  const auto ms = number_in<double>(text);
  if (!ms || !(*ms >= 0 && *ms <= 3.6e6)) return false;
  to = static_cast<Ns>(*ms * 1e6 + 0.5);
  return true;
}

bool set_count(i64& to, std::string_view text) {
  const auto value = number_in<i64>(text);
  if (!value || *value < 1 || *value > 1000) return false;
  to = *value;
  return true;
}

bool set_group(GroupKind& to, std::string_view text) {
  const auto* found = std::find(kGroupNames.begin(), kGroupNames.end(), text);
  if (found == kGroupNames.end()) return false;
  to = static_cast<GroupKind>(found - kGroupNames.begin());
  return true;
}

// One for each parameter; false: the text does not fit.
bool set_ranks(Fault& f, std::string_view text, i64) { return text != "last" && set_range(f.ranks, text, 0); }
bool set_steps(Fault& f, std::string_view text, i64 last_step) { return set_range(f.steps, text, last_step); }
bool set_groups(Fault& f, std::string_view text, i64) {
  return text != "last" && set_range(f.groups, text, 0);
}
bool set_kind(Fault& f, std::string_view text, i64) { return set_group(f.group, text); }
bool set_times(Fault& f, std::string_view text, i64) { return set_factor(f.factor, text, 1, 1000); }
bool set_spread(Fault& f, std::string_view text, i64) { return set_factor(f.factor, text, 0, 10, 1); }
bool set_duration(Fault& f, std::string_view text, i64) { return set_ms(f.ns, text); }
bool set_from(Fault& f, std::string_view text, i64) { return set_ms(f.from_ns, text); }
bool set_number(Fault& f, std::string_view text, i64) { return set_count(f.count, text); }

constexpr FaultParam kAnyRank = {"rank", "all", "all, 3 or 2-5", set_ranks};
constexpr FaultParam kOneRank = {"rank", "0", "all, 3 or 2-5", set_ranks};
constexpr FaultParam kAnyStep = {"step", "all", "all, last, 4, 4-6 or 4- (to the end)", set_steps};
constexpr FaultParam kLastStep = {"step", "last", "all, last, 4, 4-6 or 4- (to the end)", set_steps};

constexpr FaultParam kSlowRank[] = {
    kOneRank,
    kAnyStep,
    {"factor", "1.3", "its kernels and copies take this many times as long (1 to 1000)", set_times}};
constexpr FaultParam kSlowLink[] = {
    {"group", "data", "data, tensor or pipeline", set_kind},
    {"index", "all", "which of these groups: all, 0 or 1-3", set_groups},
    kAnyStep,
    {"factor", "10", "its transfers take this many times as long (1 to 1000)", set_times}};
constexpr FaultParam kStall[] = {
    kAnyRank, kAnyStep, {"ms", "50", "how long the next batch is waited for (to an hour)", set_duration}};
constexpr FaultParam kLaunchBound[] = {
    kAnyRank, kAnyStep, {"pieces", "48", "so many kernels do the work of one (1 to 1000)", set_number}};
constexpr FaultParam kHostSync[] = {
    kAnyRank,
    kAnyStep,
    {"every", "1", "after the forward pass of every n-th layer (1 to 1000)", set_number},
    {"ms", "2", "what the host then does with the number (to an hour)", set_duration}};
constexpr FaultParam kPause[] = {
    kOneRank, kAnyStep, {"ms", "50", "how long the host stands still (to an hour)", set_duration}};
constexpr FaultParam kThrottle[] = {
    kOneRank,
    kAnyStep,
    {"from_ms", "0", "from this time after the first step's start on", set_from},
    {"factor", "1.5", "compute kernels take this many times as long (1 to 1000)", set_times}};
constexpr FaultParam kImbalance[] = {
    kAnyRank,
    kAnyStep,
    {"spread", "0.3", "layers take up to this share longer, other for each rank and step (0 to 10)",
     set_spread}};
constexpr FaultParam kRetries[] = {
    kAnyRank,
    kAnyStep,
    {"count", "4", "how often in a step (1 to 1000)", set_number},
    {"ms", "2", "what one cudaFree and cudaMalloc take (to an hour)", set_duration}};
constexpr FaultParam kWhere[] = {kAnyRank, kAnyStep};
constexpr FaultParam kStraggling[] = {
    kOneRank,
    kLastStep,
    {"factor", "2", "compute kernels take this many times as long (1 to 1000)", set_times}};
constexpr FaultParam kHang[] = {
    kOneRank,
    kLastStep,
    {"after_ms", "1000", "how much later recording stops everywhere (to an hour)", set_duration}};

constexpr FaultKind kKinds[] = {
    {FaultType::slow_rank, "slow-rank", "The device of a rank is slow.", kSlowRank},
    {FaultType::slow_link, "slow-link", "The link of a group of ranks is slow.", kSlowLink},
    {FaultType::data_loader_stall, "data-loader-stall", "The host waits for its next batch.", kStall},
    {FaultType::launch_bound, "launch-bound", "Kernels are so small that their launches take longer.",
     kLaunchBound},
    {FaultType::host_sync, "host-sync", "The host waits for the device within the step (.item()).",
     kHostSync},
    {FaultType::gc_pause, "gc-pause", "The host stands still amid the forward pass (garbage collection).",
     kPause},
    {FaultType::throttle, "throttle", "The device of a rank lowers its clock.", kThrottle},
    {FaultType::imbalance, "imbalance", "Ranks have unequal work.", kImbalance},
    {FaultType::allocator_retries, "allocator-retries",
     "Device memory runs out: it is freed and asked for anew.", kRetries},
    {FaultType::unoverlapped_communication, "unoverlapped-communication",
     "Computation waits for each collective of the data-parallel group.", kWhere},
    {FaultType::straggling_step, "straggling-step", "One step of a rank takes longer.", kStraggling},
    {FaultType::hang, "hang",
     "A rank stops before its next collective; the others wait until recording stops.", kHang},
};

std::string names_of(std::span<const FaultParam> params) {
  std::string names;
  for (const FaultParam& p : params) names += (names.empty() ? "" : ", ") + std::string(p.name);
  return names;
}

}  // namespace

const FaultKind& kind_of(FaultType type) {
  return *std::ranges::find_if(kKinds, [&](const FaultKind& k) { return k.type == type; });
}

std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const FaultKind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

Result<Fault> parse_fault(const std::string& text, i64 last_step) {
  const size_t colon = std::min(text.find(':'), text.size());
  const auto* kind =
      std::ranges::find_if(kKinds, [&](const FaultKind& k) { return text.substr(0, colon) == k.name; });
  if (kind == std::end(kKinds))
    return fail(Code::invalid, "there is no fault \"{}\"{}", text.substr(0, colon),
                did_you_mean(text.substr(0, colon), fault_names(), "; --list-faults lists them"));
  Fault fault;
  fault.type = kind->type;
  fault.text = text;
  for (const FaultParam& p : kind->params) CHECK(p.set(fault, p.fallback, last_step));
  for (size_t at = colon + 1; at < text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, comma - at);
    const size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, equals);
    const auto param =
        std::ranges::find_if(kind->params, [&](const FaultParam& p) { return name == p.name; });
    if (param == kind->params.end())
      return fail(Code::invalid, "the fault {} has no parameter \"{}\"; it has {}", kind->name, name,
                  names_of(kind->params));
    if (equals >= word.size() || !param->set(fault, word.substr(equals + 1), last_step))
      return fail(Code::invalid, "\"{}\" of the fault {} does not fit; {}: {}", word, kind->name, name,
                  param->help);
    at = comma + 1;
  }
  return fault;
}

std::string describe_faults() {
  std::string text;
  for (const FaultKind& kind : kKinds) {
    std::string example = kind.name;
    char before = ':';
    for (const FaultParam& p : kind.params) {
      example += fmt::format("{}{}={}", before, p.name, p.fallback);
      before = ',';
    }
    text += fmt::format("{}\n    {}\n", example, kind.help);
    for (const FaultParam& p : kind.params) text += fmt::format("    {:<9} {}\n", p.name, p.help);
  }
  return text;
}

}  // namespace spotter::simulate
