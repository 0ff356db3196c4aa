// pressure: the time in which tasks stood still for want of a processor, memory or I/O.
// /proc/pressure, Documentation/accounting/psi.rst.
#include <cmath>

#include "base/text/words.h"
#include "base/time.h"
#include "collect/kernel_file.h"
#include "collect/list.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr Field kColumns[] = {
    {"resource", Type::text, Unit::none, Role::key, "cpu, memory, io or irq."},
    {"some_avg10_ratio", Type::real, Unit::ratio, Role::value,
     "Part of the last 10 s in which at least one task stood still for it."},
    {"some_avg60_ratio", Type::real, Unit::ratio, Role::value, "The same of the last 60 s."},
    {"some_avg300_ratio", Type::real, Unit::ratio, Role::value, "The same of the last 300 s."},
    {"some_ns", Type::integer, Unit::ns, Role::counter,
     "Time in which at least one task stood still for it."},
    {"full_avg10_ratio", Type::real, Unit::ratio, Role::value,
     "Part of the last 10 s in which all tasks that had something to do stood still for it."},
    {"full_avg60_ratio", Type::real, Unit::ratio, Role::value, "The same of the last 60 s."},
    {"full_avg300_ratio", Type::real, Unit::ratio, Role::value, "The same of the last 300 s."},
    {"full_ns", Type::integer, Unit::ns, Role::counter,
     "Time in which all tasks that had something to do stood still for it."},
};
constexpr TableKind kTables[] = {{"pressure", "/proc/pressure", "A resource that tasks wait for.", kColumns}};

constexpr const char* kResources[] = {"cpu", "memory", "io", "irq"};
constexpr size_t kCells = 4;  // of one line

// The cells of "avg10=0.00 avg60=0.00 avg300=0.00 total=0".
void read_line(std::string_view line, std::span<Value> cells) {
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    const size_t sign = word.find('=');
    if (sign == word.npos) continue;
    const std::string_view key = word.substr(0, sign), value = word.substr(sign + 1);
    const auto percent = to_real(value);  // with two decimals
    const Value ratio = percent ? Value(std::round(*percent * 100) / 10'000) : Value();
    if (key == "avg10") cells[0] = ratio;
    if (key == "avg60") cells[1] = ratio;
    if (key == "avg300") cells[2] = ratio;
    if (key == "total") cells[3] = or_null(scaled(to_integer(value), kMicrosecond));
  }
}

class Pressure : public Collector {
 public:
  static Result<std::unique_ptr<Collector>> open(const Surroundings& s) {
    auto pressure = std::make_unique<Pressure>();
    for (const char* resource : kResources) {
      KernelFile file(fmt::format("{}/pressure/{}", s.host.proc, resource));
      if (file.read()) pressure->files_.push_back({resource, std::move(file)});
    }
    if (pressure->files_.empty())
      return fail(Code::not_found,
                  "this kernel does not tell the pressure on its resources (PSI) in {}/pressure",
                  s.host.proc);
    return pressure;
  }

  Result<std::vector<Table>> sample() override {
    std::vector<Table> tables;
    Table& table = tables.emplace_back("pressure", kColumns);
    Error last;
    for (Resource& resource : files_) {
      const auto text = resource.file.read();
      if (!text) {
        last = text.error();
        continue;
      }
      std::vector<Value> row(1 + 2 * kCells);
      row[0] = std::string_view(resource.name);
      std::string_view rest = whole_lines(*text);
      bool has_any = false;
      while (!rest.empty()) {
        std::string_view line = next_line(rest);
        const std::string_view word = next_word(line);
        if (word != "some" && word != "full") continue;
        read_line(line, std::span(row).subspan(word == "some" ? 1 : 1 + kCells, kCells));
        has_any = true;
      }
      if (has_any) {
        table.append(row);
      } else {
        last = {Code::corrupt, fmt::format("{} has no line \"some\" or \"full\"", resource.file.path())};
      }
    }
    if (table.rows() == 0) return tl::unexpected(std::move(last));
    return tables;
  }

 private:
  struct Resource {
    const char* name;
    KernelFile file;
  };
  std::vector<Resource> files_;
};

}  // namespace

const CollectorKind kPressure = {
    .name = "pressure",
    .help = "The time that tasks stood still for want of a resource.",
    .period = kSecond,
    .tables = kTables,
    .open = Pressure::open,
};

}  // namespace spotter::collect
