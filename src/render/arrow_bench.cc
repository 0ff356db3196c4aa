// A table of 1,000,000 rows and 10 columns by columns, and as an Arrow IPC stream; as CSV to compare with.
#include <benchmark/benchmark.h>

#include "render/arrow_table.h"
#include "render/render.h"

namespace spotter::render {
namespace {

constexpr i64 kRows = 1'000'000;

const Field kSchema[] = {
    {"rank", Type::integer, Unit::none, Role::key, ""},
    {"event", Type::integer, Unit::none, Role::key, ""},
    {"start_ns", Type::integer, Unit::ns, Role::time, ""},
    {"dur_ns", Type::integer, Unit::ns, Role::value, ""},
    {"bytes", Type::integer, Unit::bytes, Role::value, ""},
    {"ratio", Type::real, Unit::ratio, Role::value, ""},
    {"share", Type::real, Unit::ratio, Role::value, ""},
    {"name", Type::text, Unit::none, Role::key, ""},
    {"kind", Type::text, Unit::none, Role::value, ""},
    {"slow", Type::flag, Unit::none, Role::value, ""},
};

const Table& table() {
  static const Table made = [] {
    Table t("t", kSchema);
    for (i64 i = 0; i < kRows; ++i) {
      const std::string name = "kernel_" + std::to_string(i % 1000);
      t.append({i % 8, i, i * 1000, i % 977, i % 10 == 0 ? Value() : Value(i % 4096),
                1.0 / static_cast<double>(i + 1), 0.5, std::string_view(name),
                i % 3 == 0 ? "memory" : "compute", i % 2 == 0});
    }
    return t;
  }();
  return made;
}

void by_columns(benchmark::State& state) {
  table();
  for (auto _ : state) benchmark::DoNotOptimize(arrow_table(table(), {}));
}

void as_bytes(benchmark::State& state, const char* format) {
  table();
  for (auto _ : state) benchmark::DoNotOptimize(render(*find_format(format), {std::span(&table(), 1), {}}));
}

BENCHMARK(by_columns)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(as_bytes, arrow, "arrow")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(as_bytes, csv, "csv")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace spotter::render
