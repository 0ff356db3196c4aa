// interrupts: how often processors were interrupted, and by what. /proc/interrupts and /proc/softirqs,
// Documentation/filesystems/proc.rst; the names of lines are those of arch/x86/kernel/irq.c and
// arch/arm64/kernel/smp.c.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "base/stable_sort.h"
#include "collect/host/interrupt_lines.h"
#include "collect/list.h"
#include "collect/values.h"
#include "collect/wrapped_counter.h"

namespace spotter::collect {
namespace {

// Which line each column is. By its label where the architecture names its lines, else by the text behind the
// numbers: arm64 numbers its interrupts between processors, and not the same in all versions.
struct Named {
  Field column;
  std::string_view label, text;  // empty: none
};
constexpr Field counts(const char* name, const char* help) {
  return {name, Type::integer, Unit::count, Role::counter, help};
}
constexpr Named kNamed[] = {
    {counts("device", "Interrupts of devices."), "", ""},
    {counts("nmi", "Interrupts that cannot be masked: watchdog, profilers."), "NMI", ""},
    {counts("local_timer", "Ticks of the processors' own timers."), "LOC", "arch_timer"},
    {counts("spurious", "Interrupts without a cause."), "SPU", ""},
    {counts("performance", "Interrupts of performance counters."), "PMI", "arm-pmu"},
    {counts("irq_work", "Work put off to an interrupt."), "IWI", "IRQ work interrupts"},
    {counts("reschedule", "Interrupts by which a processor makes another one choose its thread anew."), "RES",
     "Rescheduling interrupts"},
    {counts("function_call", "Interrupts by which a processor makes another one call a function."), "CAL",
     "Function call interrupts"},
    {counts(
         "tlb_shootdowns",
         "Requests to another processor to forget translations of addresses; they come by function calls."),
     "TLB", ""},
    {counts("cpu_stop", "Interrupts that stop a processor."), "", "CPU stop interrupts"},
    {counts("timer_broadcast", "Ticks that a processor passed on."), "", "Timer broadcast interrupts"},
    {counts("thermal", "Changes of the thermal state: the processor was throttled or recovered."), "TRM", ""},
    {counts("threshold", "Corrected errors that reached a threshold."), "THR", ""},
    {counts("deferred_error", "Uncorrected errors of memory that was not used yet."), "DFR", ""},
    {counts("machine_checks", "Machine checks: errors of the hardware."), "MCE", ""},
    {counts("machine_check_polls", "Looks for corrected errors of the hardware."), "MCP", ""},
    {counts("errors", "Interrupts that the controller reports as wrong."), "ERR", ""},
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

// Counters that are added up by a name. Whoever has a row keeps it: the rows are counters, and so is the sum
// of the others.
class Classes {
 public:
  void begin_round() {
    for (Class& c : classes_) c.count.reset();
    others_.clear();
  }
  void add(std::string_view name, i64 count) {
    if (Class* const known = find(classes_, name)) {
      known->count = add_saturated(known->count.value_or(0), count);
    } else if (Class* const other = find(others_, name)) {
      other->count = add_saturated(*other->count, count);
    } else {
      others_.push_back({std::string(name), count, {}});
    }
  }
  // Of those that came in this round; those that count most get a row first.
  void append_to(Table& table, bool is_same) {
    stable_sort(others_, [](const Class& a, const Class& b) { return *a.count > *b.count; });
    const size_t free = std::min(kMostClasses - classes_.size(), others_.size());
    std::move(others_.begin(), others_.begin() + static_cast<i64>(free), std::back_inserter(classes_));
    others_.erase(others_.begin(), others_.begin() + static_cast<i64>(free));
    for (Class& c : classes_)
      if (c.count) table.append({std::string_view(c.name), c.total.update(*c.count, is_same)});
    i64 other = 0;
    for (const Class& c : others_) other = add_saturated(other, *c.count);
    if (!others_.empty()) table.append({std::string_view(kOther), other_.update(other, is_same)});
  }

 private:
  struct Class {
    std::string name;
    std::optional<i64> count;  // null: it has not come in this round
    WrappedCounter total;
  };
  static Class* find(std::vector<Class>& classes, std::string_view name) {
    const auto it = std::ranges::find(classes, name, &Class::name);
    return it == classes.end() ? nullptr : &*it;
  }

  std::vector<Class> classes_, others_;  // those with a row, and the others of this round
  WrappedCounter other_;
};

class Interrupts : public Collector {
 public:
  explicit Interrupts(const Surroundings& s)
      : hard_file_(s.host.proc + "/interrupts"), soft_file_(s.host.proc + "/softirqs") {}

  Result<std::vector<Table>> sample() override {
    std::vector<Table> tables;
    tables.reserve(std::size(kTables));
    TRY(read_hard(tables));
    // Missing where the kernel is old or a container hides it.
    if (Result<Table> soft = read_soft()) tables.push_back(std::move(*soft));
    return tables;
  }

 private:
  Result<void> read_hard(std::vector<Table>& tables) {
    std::array<std::optional<i64>, std::size(kNamed)> named;
    i64 total = 0;
    devices_.begin_round();
    const auto take = [&](const InterruptLine& line) {
      const bool is_device = is_digits(line.label);
      const size_t kind = find(line, is_device);
      if (kind < named.size()) named[kind] = add_saturated(named[kind].value_or(0), line.count);
      // Shootdowns of x86 arrive by a function call's interrupt, which counts them since Linux 4.8
      // (82ba4faca1bf).
      if (kind == kErrors || line.label == "MIS" || line.label == "TLB") return;
      total = add_saturated(total, line.count);
      if (kind == kDevice && line.count > 0) devices_.add(device_class_of(line.text), line.count);
    };
    TRY_ASSIGN(const u64 shape, hard_file_.read(take));
    const bool is_same = std::exchange(hard_shape_, shape) == shape;
    std::array<Value, std::size(kColumns)> row{total_.update(total, is_same)};
    for (size_t i = 0; i < named.size(); ++i)
      if (named[i]) row[1 + i] = named_[i].update(*named[i], is_same);
    tables.emplace_back("interrupts", kColumns).append(row);
    devices_.append_to(tables.emplace_back("interrupt_device", kDeviceColumns), is_same);
    return {};
  }

  static size_t find(const InterruptLine& line, bool is_device) {
    const std::string_view label = line.label == "Err" ? "ERR" : line.label;  // as arm64 writes it
    const std::string_view text = is_device ? action_of(line.text) : line.text;
    for (size_t i = 0; i < std::size(kNamed); ++i) {
      if (!label.empty() && label == kNamed[i].label) return i;
      if (!text.empty() && text == kNamed[i].text) return i;
    }
    return is_device ? kDevice : std::size(kNamed);
  }

  Result<Table> read_soft() {
    kinds_.begin_round();
    std::string name;
    TRY_ASSIGN(const u64 shape, soft_file_.read([&](const InterruptLine& line) {
      name = line.label;
      for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      kinds_.add(name, line.count);
    }));
    const bool is_same = std::exchange(soft_shape_, shape) == shape;
    Table table("softirq", kSoftColumns);
    kinds_.append_to(table, is_same);
    return table;
  }

  InterruptFile hard_file_, soft_file_;
  u64 hard_shape_ = 0, soft_shape_ = 0;
  WrappedCounter total_;
  std::array<WrappedCounter, std::size(kNamed)> named_;
  Classes devices_, kinds_;
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
