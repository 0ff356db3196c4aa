// The kernels of all ranks that take the most time.
#include <algorithm>

#include "analyze/statistics.h"
#include "report/list.h"
#include "table/ops.h"

namespace spotter::report {
namespace {

constexpr Field kKernelColumns[] = {
    {"kernel", Type::text, Unit::none, Role::key, ""},
    {"kind", Type::text, Unit::none, Role::detail, ""},
    {"count", Type::integer, Unit::count, Role::value, ""},
    {"total", Type::integer, Unit::ns, Role::value, ""},
    {"share", Type::real, Unit::ratio, Role::value, ""},
    {"mean", Type::integer, Unit::ns, Role::value, ""},
};

Table kernel_table(const Table& kernels, size_t most) {
  Table t("kernels", kKernelColumns);
  const i64 total = table::sum_of(kernels, "sum_ns");
  for (size_t row = 0; row < std::min(kernels.rows(), most); row++) {
    const i64 count = kernels.integer(row, kernels.column("count")),
              sum = kernels.integer(row, kernels.column("sum_ns"));
    t.append({kernels.at(row, kernels.column("name")), kernels.at(row, kernels.column("kind")), count, sum,
              analyze::ratio(sum, total), count > 0 ? Value(sum / count) : Value{}});
  }
  return t;
}

}  // namespace

const Section kTopKernels = {
    .name = "kernels",
    .is_shown = [](const Subject& s) { return s.facts.has_device_work; },
    .title = [](const Subject&) { return std::string("Kernels that take the most device time"); },
    .parts = [](const Subject& s) -> std::vector<Part> { return {kernel_table(s.facts.kernels, s.names)}; },
};

}  // namespace spotter::report
