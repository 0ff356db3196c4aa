// interrupts: how often processors were interrupted, and by what. /proc/interrupts and /proc/softirqs,
// Documentation/filesystems/proc.rst; the names of lines are those of arch/x86/kernel/irq.c and
// arch/arm64/kernel/smp.c.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/stable_sort.h"
#include "collect/interrupt_lines.h"
#include "collect/list.h"
#include "collect/values.h"
#include "collect/wrapped_counter.h"

namespace spotter::collect {
namespace {

// Which line each column is. By its label where the architecture names its lines, else by the text behind the
// numbers: arm64 numbers its interrupts between processors, and not the same in all versions.
struct Named {
  Field column;
  const char* label;  // nullptr: none
  const char* text;   // nullptr: none
};
constexpr Field counts(const char* name, const char* help) {
  return {name, Type::integer, Unit::count, Role::counter, help};
}
constexpr Named kNamed[] = {
    {counts("device", "Interrupts of devices."), nullptr, nullptr},
    {counts("nmi", "Interrupts that cannot be masked: watchdog, profilers."), "NMI", nullptr},
    {counts("local_timer", "Ticks of the processors' own timers."), "LOC", "arch_timer"},
    {counts("spurious", "Interrupts without a cause."), "SPU", nullptr},
    {counts("performance", "Interrupts of performance counters."), "PMI", "arm-pmu"},
    {counts("irq_work", "Work put off to an interrupt."), "IWI", "IRQ work interrupts"},
    {counts("reschedule", "Interrupts by which a processor makes another one choose its thread anew."), "RES",
     "Rescheduling interrupts"},
    {counts("function_call", "Interrupts by which a processor makes another one call a function."), "CAL",
     "Function call interrupts"},
    {counts(
         "tlb_shootdowns",
         "Requests to another processor to forget translations of addresses; they come by function calls."),
     "TLB", nullptr},
    {counts("cpu_stop", "Interrupts that stop a processor."), nullptr, "CPU stop interrupts"},
    {counts("timer_broadcast", "Ticks that a processor passed on."), nullptr, "Timer broadcast interrupts"},
    {counts("thermal", "Changes of the thermal state: the processor was throttled or recovered."), "TRM",
     nullptr},
    {counts("threshold", "Corrected errors that reached a threshold."), "THR", nullptr},
    {counts("deferred_error", "Uncorrected errors of memory that was not used yet."), "DFR", nullptr},
    {counts("machine_checks", "Machine checks: errors of the hardware."), "MCE", nullptr},
    {counts("machine_check_polls", "Looks for corrected errors of the hardware."), "MCP", nullptr},
    {counts("errors", "Interrupts that the controller reports as wrong."), "ERR", nullptr},
};
constexpr size_t kDevice = 0, kErrors = std::size(kNamed) - 1;

constexpr auto kColumns = [] {
  std::array<Field, 1 + std::size(kNamed)> columns{
      counts("total", "All together, without those that the controller reports as wrong.")};
  std::ranges::transform(kNamed, columns.begin() + 1, &Named::column);
  return columns;
}();
constexpr Field kDeviceColumns[] = {
    {"device_class", Type::text, Unit::none, Role::key,
     "What the driver calls its interrupts, without numbers: mlx5_comp, nvme."},
    counts("count", "Interrupts of these devices."),
};
constexpr Field kSoftColumns[] = {
    {"type", Type::text, Unit::none, Role::key, "Kind of soft interrupt: net_rx, timer."},
    counts("count", "Times that it was handled."),
};
constexpr TableKind kTables[] = {
    {"interrupts", "/proc/interrupts", "The interrupts of all processors.", kColumns},
    {"interrupt_device", "/proc/interrupts", "The interrupts of a class of devices.", kDeviceColumns},
    {"softirq", "/proc/softirqs", "A kind of soft interrupt.", kSoftColumns},
};

constexpr size_t kMostClasses = 32;
constexpr const char* kOther = "other";  // all classes beyond these

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

class Interrupts : public Collector {
 public:
  explicit Interrupts(const Surroundings& s)
      : hard_path_(s.host.proc + "/interrupts"), soft_path_(s.host.proc + "/softirqs") {}

  Result<std::vector<Table>> sample() override {
    std::vector<Table> tables;
    TRY(read_hard(tables));
    // Missing where the kernel is old or a container hides it.
    if (Result<Table> soft = read_soft()) tables.push_back(std::move(*soft));
    return tables;
  }

 private:
  Result<void> read_hard(std::vector<Table>& tables) {
    std::array<std::optional<i64>, std::size(kNamed)> named;
    i64 total = 0;
    std::vector<std::pair<std::string, i64>> classes;
    const auto take = [&](const InterruptLine& line) {
      const bool is_device = is_digits(line.label);
      const size_t kind = find(line, is_device);
      if (kind < named.size()) named[kind] = add_saturated(named[kind].value_or(0), line.count);
      // Shootdowns of x86 arrive by a function call's interrupt, which counts them since Linux 4.8
      // (82ba4faca1bf).
      if (kind == kErrors || line.label == "MIS" || line.label == "TLB") return;
      total = add_saturated(total, line.count);
      if (kind == kDevice && line.count > 0) add_class(classes, device_class_of(line.text), line.count);
    };
    TRY_ASSIGN(const u64 shape, read_interrupt_lines(hard_path_, take));
    const bool is_same = std::exchange(hard_shape_, shape) == shape;
    Table& all = tables.emplace_back("interrupts", kColumns);
    std::vector<Value> row;
    row.push_back(total_.update(total, is_same));
    for (size_t i = 0; i < named.size(); ++i)
      row.push_back(named[i] ? Value(named_[i].update(*named[i], is_same)) : Value());
    all.append(row);
    tables.push_back(devices(std::move(classes), is_same));
    return {};
  }

  static size_t find(const InterruptLine& line, bool is_device) {
    const std::string_view label = line.label == "Err" ? "ERR" : line.label;  // as arm64 writes it
    const std::string_view text = is_device ? action_of(line.text) : line.text;
    for (size_t i = 0; i < std::size(kNamed); ++i) {
      if (kNamed[i].label && label == kNamed[i].label) return i;
      if (kNamed[i].text && text == kNamed[i].text) return i;
    }
    return is_device ? kDevice : std::size(kNamed);
  }

  static void add_class(std::vector<std::pair<std::string, i64>>& classes, std::string_view name, i64 count) {
    const auto it = std::ranges::find(classes, name, &std::pair<std::string, i64>::first);
    if (it == classes.end())
      classes.emplace_back(name, count);
    else
      it->second = add_saturated(it->second, count);
  }

  // Whoever has a row keeps it: the rows are counters, and so is the sum of the others.
  Table devices(std::vector<std::pair<std::string, i64>> classes, bool is_same) {
    stable_sort(classes, [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [name, count] : classes)
      if (classes_.size() < kMostClasses && !classes_.contains(name))
        classes_.emplace(name, WrappedCounter());
    Table table("interrupt_device", kDeviceColumns);
    i64 other = 0;
    bool has_other = false;
    for (const auto& [name, count] : classes) {
      if (const auto it = classes_.find(name); it != classes_.end()) {
        table.append({std::string_view(name), it->second.update(count, is_same)});
      } else {
        other = add_saturated(other, count);
        has_other = true;
      }
    }
    if (has_other) table.append({std::string_view(kOther), other_.update(other, is_same)});
    return table;
  }

  Result<Table> read_soft() {
    std::vector<std::pair<std::string, i64>> kinds;
    TRY_ASSIGN(const u64 shape, read_interrupt_lines(soft_path_, [&](const InterruptLine& line) {
                 std::string name(line.label);
                 for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
                 if (kinds.size() < kMostClasses) add_class(kinds, name, line.count);
               }));
    const bool is_same = std::exchange(soft_shape_, shape) == shape;
    Table table("softirq", kSoftColumns);
    for (const auto& [name, count] : kinds)
      table.append({std::string_view(name), soft_[name].update(count, is_same)});
    return table;
  }

  std::string hard_path_, soft_path_;
  u64 hard_shape_ = 0, soft_shape_ = 0;
  WrappedCounter total_, other_;
  std::array<WrappedCounter, std::size(kNamed)> named_;
  std::map<std::string, WrappedCounter, std::less<>> classes_, soft_;
};

}  // namespace

const CollectorKind kInterrupts = {
    .name = "interrupts",
    .help = "How often processors are interrupted, and by what.",
    .period = 10 * kSecond,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<Interrupts>(s);
    },
};

}  // namespace spotter::collect
