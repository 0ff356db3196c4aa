// The table of faults.
#include <algorithm>
#include <optional>

#include "base/text/number.h"
#include "simulate/faults/fault.h"

namespace spotter::simulate {
namespace {

std::optional<NumberRange> range(std::string_view text, i64 last_step) {
  if (text == "all") return NumberRange{};
  if (text == "last") return NumberRange{last_step, last_step};
  return parse_number_range(text);
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

bool set_two(RankPair& to, std::string_view text) {
  const size_t dash = std::min(text.find('-'), text.size());
  const auto one = number_in<i64>(text.substr(0, dash));
  const auto other = number_in<i64>(text.substr(std::min(dash + 1, text.size())));
  if (!one || !other || *one < 0 || *other < 0 || *one == *other) return false;
  to = {*one, *other};
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
  f.tells_groups = true;
  return text != "last" && set_range(f.groups, text, 0);
}
bool set_kind(Fault& f, std::string_view text, i64) {
  f.tells_groups = true;
  return set_group(f.group, text);
}
bool set_pair(Fault& f, std::string_view text, i64) {
  if (text == "all") return true;
  f.pair.emplace();
  return set_two(*f.pair, text);
}
bool set_times(Fault& f, std::string_view text, i64) { return set_factor(f.factor, text, 1, 1000); }
bool set_spread(Fault& f, std::string_view text, i64) { return set_factor(f.factor, text, 0, 10, 1); }
bool set_duration(Fault& f, std::string_view text, i64) { return set_ms(f.ns, text); }
bool set_from(Fault& f, std::string_view text, i64) { return set_ms(f.from_ns, text); }
bool set_number(Fault& f, std::string_view text, i64) { return set_count(f.count, text); }
bool set_every(Fault& f, std::string_view text, i64) { return set_count(f.every, text); }
bool set_mb(Fault& f, std::string_view text, i64) {
  i64 mb = 0;
  if (!set_count(mb, text)) return false;
  f.bytes = mb << 20;
  return true;
}
bool set_percent(Fault& f, std::string_view text, i64) {
  const auto percent = number_in<i64>(text);
  if (!percent || *percent < 50 || *percent > 100) return false;
  f.count = *percent;
  return true;
}

constexpr FaultParam kAnyRank = {"rank", "all", "all, 3 or 2-5", set_ranks};
constexpr FaultParam kOneRank = {"rank", "0", "all, 3 or 2-5", set_ranks};
constexpr FaultParam kAnyStep = {"step", "all", "all, last, 4, 4-6 or 4- (to the end)", set_steps};
constexpr FaultParam kLastStep = {"step", "last", "all, last, 4, 4-6 or 4- (to the end)", set_steps};

constexpr FaultParam kSlowRank[] = {
    kOneRank,
    kAnyStep,
    {"factor", "1.3", "its kernels and copies take this many times as long (1 to 1000)", set_times}};
constexpr FaultParam kSlowLink[] = {
    {"group", "data", "data, tensor, pipeline, expert or expert_data", set_kind},
    {"index", "all", "which of these groups: all, 0 or 1-3", set_groups},
    {"ranks", "all", "in place of group and index: the link between two ranks, such as 0-5", set_pair},
    kAnyStep,
    {"factor", "10", "its transfers take this many times as long (1 to 1000)", set_times}};
constexpr FaultParam kStall[] = {
    kAnyRank,
    kAnyStep,
    {"ms", "50", "how long the next batch is waited for (to an hour)", set_duration},
    {"every", "1", "only in steps whose number it divides, as so many workers are late together (1 to 1000)",
     set_every}};
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
    {"spread", "0.3", "up to so much more work than others have, drawn for each rank and step (0 to 10)",
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

constexpr FaultParam kExtra[] = {
    kOneRank,
    kAnyStep,
    {"count", "32", "so many more calls of aten::gelu in a step (1 to 1000)", set_number}};
constexpr FaultParam kCopies[] = {
    kAnyRank,
    kAnyStep,
    {"count", "4", "how often in a step, by turns from the device and to it (1 to 1000)", set_number},
    {"mb", "16", "size of each (1 to 1000)", set_mb}};
constexpr FaultParam kCompilation[] = {
    kAnyRank,
    kLastStep,
    {"ms", "200", "how long the host compiles before its forward pass (to an hour)", set_duration}};
constexpr FaultParam kPressure[] = {
    kAnyRank,
    kAnyStep,
    {"percent", "98", "so much of the device's memory is reserved (50 to 100), as --memory-events shows",
     set_percent},
    {"ms", "8", "what giving back and asking anew take in a step (to an hour)", set_duration}};
constexpr FaultParam kLowEfficiency[] = {
    kAnyRank,
    kAnyStep,
    {"factor", "3", "products of matrices take this many times as long (1 to 1000)", set_times}};

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
    {FaultType::imbalance, "imbalance",
     "Ranks have unequal work in their layers; all of a stage have as much as without it.", kImbalance},
    {FaultType::allocator_retries, "allocator-retries",
     "Device memory runs out: it is freed and asked for anew.", kRetries},
    {FaultType::unoverlapped_communication, "unoverlapped-communication",
     "Computation waits for each collective of the data-parallel group.", kWhere},
    {FaultType::straggling_step, "straggling-step", "One step of a rank takes longer.", kStraggling},
    {FaultType::hang, "hang",
     "A rank stops before its next collective; the others wait until recording stops.", kHang},
    {FaultType::extra_calls, "extra-calls", "A rank has more to do, by more calls of an operator.", kExtra},
    {FaultType::copies, "copies",
     "Pageable memory is copied amid the forward pass, and the host waits for it.", kCopies},
    {FaultType::compilation, "compilation", "The model is compiled anew (torch.compile).", kCompilation},
    {FaultType::memory_pressure, "memory-pressure",
     "Nearly all memory of the device is reserved; an allocation fails and is tried again.", kPressure},
    {FaultType::low_efficiency, "low-efficiency",
     "Products of matrices are far slower than the device allows.", kLowEfficiency},
};

}  // namespace

std::span<const FaultKind> fault_kinds() { return kKinds; }

}  // namespace spotter::simulate
