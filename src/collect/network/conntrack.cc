// conntrack: how full the table of tracked connections is, and what was dropped for it. A full one looks like
// a network that loses packets. /proc/net/stat/nf_conntrack, /proc/sys/net/netfilter;
// Documentation/networking/nf_conntrack-sysctl.rst, net/netfilter/nf_conntrack_standalone.c.
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text/words.h"
#include "base/time.h"
#include "collect/facts.h"
#include "collect/kernel_file.h"
#include "collect/list.h"
#include "collect/process/namespaces.h"
#include "collect/values.h"
#include "collect/wrapped_counter.h"

namespace spotter::collect {
namespace {

constexpr Field count(const char* name, const char* help) {
  return {name, Type::integer, Unit::count, Role::counter, help};
}
constexpr struct {
  const char* name;  // in the file
  Field column;
} kCounters[] = {
    {"drop", count("drops", "Packets dropped since they could not be tracked: the table was full, mostly.")},
    {"early_drop", count("early_drops", "Connections forgotten to make room for new ones.")},
    {"insert_failed", count("insert_failures", "Connections that were not taken into the table.")},
    {"invalid", count("invalid", "Packets that belong to no connection and begin none.")},
    {"clashres", count("clashes", "Connections that were tracked twice, which was mended.")},
    {"search_restart", count("search_restarts", "Searches begun anew since the table changed meanwhile.")},
};
constexpr size_t kCount = std::size(kCounters);

constexpr auto kColumns = [] {
  std::array<Field, 2 + kCount> columns{
      Field{"entries", Type::integer, Unit::count, Role::value, "Connections that are tracked."},
      Field{"limit", Type::integer, Unit::count, Role::value, "Connections that can be tracked at most."}};
  for (size_t i = 0; i < kCount; ++i) columns[2 + i] = kCounters[i].column;
  return columns;
}();
constexpr TableKind kTables[] = {
    {"conntrack", "/proc/net/stat/nf_conntrack", "The table of tracked connections.", kColumns}};

std::optional<i64> to_hexadecimal(std::string_view word) {
  u32 value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
  const bool is_whole = !word.empty() && error == std::errc() && end == word.data() + word.size();
  return is_whole ? std::optional<i64>(value) : std::nullopt;
}

class Conntrack : public Collector {
 public:
  static Result<std::unique_ptr<Collector>> open(const Surroundings& s) {
    auto conntrack = std::make_unique<Conntrack>(s.host);
    if (!conntrack->stat_.read() && !conntrack->count_.read())
      return fail(Code::not_found, "this machine's kernel does not track connections");
    return conntrack;
  }

  // A kernel may be built without the first; the other two are of the network that the agent itself is in.
  explicit Conntrack(const Host& host)
      : stat_(process_of_namespaces(host) + "/net/stat/nf_conntrack"),
        count_(host.proc + "/sys/net/netfilter/nf_conntrack_count"),
        limit_(host.proc + "/sys/net/netfilter/nf_conntrack_max") {}

  Result<std::vector<Table>> sample() override {
    const auto text = stat_.read();
    Sums sums;
    if (text) sums = read_stat(*text);
    if (!text || !sums.entries) sums.entries = count_.read_number();
    if (!sums.entries) return fail(Code::io, "{} does not tell its connections", stat_.path());
    const bool is_same = std::exchange(processors_, sums.processors) == sums.processors;
    std::vector<Value> row{or_null(sums.entries), or_null(scaled(limit_.read_number(), 1))};
    for (size_t i = 0; i < kCount; ++i)
      row.push_back(sums.counts[i] ? Value(totals_[i].update(*sums.counts[i], is_same)) : Value());
    std::vector<Table> tables;
    tables.emplace_back("conntrack", kColumns).append(row);
    return tables;
  }

 private:
  struct Sums {
    std::optional<i64> entries;
    std::array<std::optional<i64>, kCount> counts;
    i64 processors = 0;
  };

  // A line of names, and one of hexadecimal numbers for each processor; entries are the same in all.
  static Sums read_stat(std::string_view text) {
    Sums sums;
    text = whole_lines(text);
    const std::string_view names = next_line(text);
    for (; !text.empty(); ++sums.processors) {
      std::string_view rest = names, numbers = next_line(text);
      for (std::string_view name = next_word(rest); !name.empty(); name = next_word(rest)) {
        const auto number = to_hexadecimal(next_word(numbers));
        if (name == "entries") sums.entries = number;
        for (size_t i = 0; i < kCount; ++i) {
          if (name != kCounters[i].name) continue;
          auto& sum = sums.counts[i];
          if (sums.processors == 0) sum = 0;
          sum = sum && number ? std::optional(*sum + *number) : std::nullopt;
        }
      }
    }
    return sums;
  }

  KernelFile stat_, count_, limit_;
  i64 processors_ = 0;
  std::array<WrappedCounter, kCount> totals_;  // of 32 bits each
};

}  // namespace

const CollectorKind kConntrack = {
    .name = "conntrack",
    .help = "How full the table of tracked connections is, and what was dropped for it.",
    .period = 10 * kSecond,
    .tables = kTables,
    .open = Conntrack::open,
};

}  // namespace spotter::collect
