// uptime: since when the machine runs, and which system. /proc/uptime, /proc/stat,
// Documentation/filesystems/proc.rst.
#include "base/system/file.h"
#include "base/text/words.h"
#include "base/time.h"
#include "collect/facts.h"
#include "collect/kernel_file.h"
#include "collect/list.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr Field kColumns[] = {
    {"uptime_ns", Type::integer, Unit::ns, Role::value, "Time since the machine was started."},
    {"boot_time_ns", Type::integer, Unit::ns, Role::value,
     "When the machine was started, since 1970; it moves when the clock is set."},
    {"kernel", Type::text, Unit::none, Role::detail, "Release of the kernel."},
    {"os", Type::text, Unit::none, Role::detail, "Name and version of the operating system."},
};
constexpr TableKind kTables[] = {
    {"uptime", "/proc/uptime", "Since when the machine runs, and which system.", kColumns}};

// "12345.67" in ns.
std::optional<i64> seconds(std::string_view word) {
  const size_t point = word.find('.');
  std::optional<i64> sum = scaled(to_integer(word.substr(0, point)), kSecond);
  i64 unit = kSecond;
  for (size_t i = point; i != word.npos && ++i < word.size();) {
    const char digit = word[i];
    if (digit < '0' || digit > '9' || !sum) return std::nullopt;
    unit /= 10;
    if (__builtin_add_overflow(*sum, (digit - '0') * unit, &*sum)) return std::nullopt;
  }
  return sum;
}

class Uptime : public Collector {
 public:
  explicit Uptime(const Host& host)
      : host_(host), uptime_(host.proc + "/uptime"), stat_(host.proc + "/stat") {}

  Result<std::vector<Table>> sample() override {
    TRY_ASSIGN(std::string_view text, uptime_.read());
    text = whole_lines(text);
    const std::optional<i64> uptime = seconds(next_word(text));
    if (!uptime) return fail(Code::corrupt, "{} does not begin with a time", uptime_.path());
    if (const Ns now = host_.steady_now(); !facts_are_known_ || now - facts_at_ >= kMinute) {
      read_facts();
      facts_at_ = now;
      facts_are_known_ = true;
    }
    std::vector<Table> tables;
    tables.emplace_back("uptime", kColumns)
        .append({or_null(uptime), or_null(boot_time_), or_null(kernel_), or_null(os_)});
    return tables;
  }

 private:
  void read_facts() {
    boot_time_.reset();
    std::string_view text = whole_lines(stat_.read().value_or(""));
    while (!text.empty() && !boot_time_) {
      std::string_view line = next_line(text);
      if (next_word(line) == "btime") boot_time_ = scaled(to_integer(next_word(line)), kSecond);
    }
    kernel_ = read_fact(host_.proc + "/sys/kernel/osrelease");
    os_.clear();
    // os-release(5): lines of a shell, of which this one is quoted where it has blanks.
    constexpr std::string_view kName = "PRETTY_NAME=";
    constexpr size_t kMost = size_t{64} << 10;
    const std::string release = read_small_file(host_.root + "/etc/os-release", kMost).value_or("");
    std::string_view lines = whole_lines(release);
    while (!lines.empty() && os_.empty()) {
      std::string_view line = trimmed(next_line(lines));
      if (!line.starts_with(kName)) continue;
      line.remove_prefix(kName.size());
      if (line.size() > 1 && line.front() == line.back() && (line.front() == '"' || line.front() == '\''))
        line = line.substr(1, line.size() - 2);
      os_ = line;
    }
  }

  Host host_;
  KernelFile uptime_, stat_;
  Ns facts_at_ = 0;
  bool facts_are_known_ = false;
  std::optional<i64> boot_time_;
  std::string kernel_, os_;
};

}  // namespace

const CollectorKind kUptime = {
    .name = "uptime",
    .help = "Since when the machine runs, and which system.",
    .period = 10 * kSecond,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<Uptime>(s.host);
    },
};

}  // namespace spotter::collect
