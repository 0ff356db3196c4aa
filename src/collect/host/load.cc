// load: how many threads run or want to. /proc/loadavg, Documentation/filesystems/proc.rst.
#include "base/text/words.h"
#include "collect/kernel_file.h"
#include "collect/list.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr Field kColumns[] = {
    {"load_1m", Type::real, Unit::count, Role::value,
     "Threads that run, could run or wait for a disk, averaged with a weight that decays in a minute."},
    {"load_5m", Type::real, Unit::count, Role::value, "The same in five minutes."},
    {"load_15m", Type::real, Unit::count, Role::value, "The same in fifteen minutes."},
    {"runnable_threads", Type::integer, Unit::count, Role::value, "Threads that run or could run."},
    {"threads", Type::integer, Unit::count, Role::value, "Threads of all processes."},
};
constexpr TableKind kTables[] = {{"load", "/proc/loadavg", "How busy the machine's threads are.", kColumns}};

class Load : public Collector {
 public:
  explicit Load(const Host& host) : file_(host.proc + "/loadavg") {}

  Result<std::vector<Table>> sample() override {
    TRY_ASSIGN(std::string_view text, file_.read());
    text = whole_lines(text);
    std::string_view line = next_line(text);
    std::vector<Value> row;
    for (int i = 0; i < 3; ++i) row.push_back(or_null(to_real(next_word(line))));
    const std::string_view threads = next_word(line);
    const size_t slash = threads.find('/');
    row.push_back(or_null(scaled(to_integer(threads.substr(0, slash)), 1)));
    row.push_back(slash == threads.npos ? Value()
                                        : or_null(scaled(to_integer(threads.substr(slash + 1)), 1)));
    if (is_null(row[0])) return fail(Code::corrupt, "{} does not begin with a load", file_.path());
    std::vector<Table> tables;
    tables.emplace_back("load", kColumns).append(row);
    return tables;
  }

 private:
  KernelFile file_;
};

}  // namespace

const CollectorKind kLoad = {
    .name = "load",
    .help = "How many threads run or want to.",
    .period = kSecond,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<Load>(s.host);
    },
};

}  // namespace spotter::collect
