#include "collect/host/timex.h"

#include <cerrno>
#include <optional>

#include "base/time.h"
#include "collect/facts.h"
#include "collect/list.h"

namespace spotter::collect {
namespace {

constexpr Field kColumns[] = {
    {"synchronized", Type::flag, Unit::none, Role::value,
     "Whether a program keeps the clock by a reference; otherwise the errors are guesses that only grow."},
    {"offset_ns", Type::integer, Unit::ns, Role::value,
     "What is still to be taken out of the clock's difference from its reference."},
    {"max_error_ns", Type::integer, Unit::ns, Role::value, "What the clock may be wrong by at most."},
    {"estimated_error_ns", Type::integer, Unit::ns, Role::value,
     "What the clock is wrong by, as its program thinks."},
    {"frequency_adjustment_ratio", Type::real, Unit::ratio, Role::value,
     "How much faster than its crystal the clock is made to run; 1 is as fast."},
    {"tick_ns", Type::integer, Unit::ns, Role::value,
     "What the clock is moved on by at each tick: 10 ms, unless a large error of the crystal is made up for."},
    {"tai_offset_ns", Type::integer, Unit::ns, Role::value,
     "Atomic time (TAI) minus this clock's; 0 where nobody told the kernel."},
    {"status", Type::integer, Unit::none, Role::value,
     "The bits STA_* of adjtimex(2): 16 and 32 are a leap second to come, 64 is not synchronized."},
};
constexpr TableKind kTables[] = {
    {"timex", "adjtimex", "The machine's clock, and how well it is kept.", kColumns}};

// In another unit; of either sign.
std::optional<Ns> in_ns(i64 count, Ns unit) {
  Ns product = 0;
  if (__builtin_mul_overflow(count, unit, &product)) return std::nullopt;
  return product;
}

// The clock is the same in all containers of a machine, but a recorded machine has none.
bool is_this_machine(const Host& host) {
  if (host.root == "/") return true;
  constexpr const char* kBoot = "/sys/kernel/random/boot_id";
  const std::string boot = read_fact(host.proc + kBoot);
  return !boot.empty() && boot == read_fact(std::string("/proc") + kBoot);
}

class Timex : public Collector {
 public:
  Result<std::vector<Table>> sample() override {
    ::timex clock{};
    const int state = adjtimex(&clock);  // no bit of `modes`: nothing is set
    if (state < 0) {
      const bool is_denied = errno == EPERM || errno == ENOSYS;
      return fail(is_denied ? Code::denied : Code::io, "the clock's state cannot be read: {}{}",
                  errno_text(errno), is_denied ? " (a filter of system calls keeps adjtimex from it)" : "");
    }
    std::vector<Table> tables;
    tables.push_back(timex_table(clock, state));
    return tables;
  }
};

}  // namespace

Table timex_table(const ::timex& clock, int state) {
  constexpr double kFrequencyUnit = 65536e6;  // 2^-16 parts in a million
  const Ns unit = (clock.status & STA_NANO) != 0 ? 1 : kMicrosecond;
  Table table("timex", kColumns);
  table.append(
      {state != TIME_ERROR, or_null(in_ns(clock.offset, unit)), or_null(in_ns(clock.maxerror, kMicrosecond)),
       or_null(in_ns(clock.esterror, kMicrosecond)), 1 + static_cast<double>(clock.freq) / kFrequencyUnit,
       or_null(in_ns(clock.tick, kMicrosecond)), or_null(in_ns(clock.tai, kSecond)), i64{clock.status}});
  return table;
}

const CollectorKind kTimex = {
    .name = "timex",
    .help = "How well the machine's clock is kept.",
    .period = 10 * kSecond,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      if (!is_this_machine(s.host))
        return fail(Code::not_found, "{} is of another machine, whose clock is not here", s.host.proc);
      return std::make_unique<Timex>();
    },
};

}  // namespace spotter::collect
