// prometheus_bench [ROUNDS]: what a scrape of a node with 8 GPUs and 64 processes costs: the page /metrics in
// both formats, plain and with gzip. Prints one JSON object; the times are medians. The page is checked
// first: as many samples as there are numbers, each value where it belongs.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <list>
#include <memory>
#include <vector>

#include "api/metrics_page.h"
#include "base/system/host.h"
#include "base/time.h"

namespace spotter::bench {
namespace {

constexpr Ns kNow = 1'700'000'000 * kSecond;

// Schemas point to their names: these are kept.
const char* keep(std::string text) {
  static std::list<std::string> all;
  return all.emplace_back(std::move(text)).c_str();
}

// A table as collectors make them: keys, details, and numbers of all sorts, some of them null.
Table make_table(const std::string& name, i64 rows, size_t columns) {
  std::vector<Field> schema{{keep(name), Type::integer, Unit::none, Role::key, "Which."},
                            {"user", Type::text, Unit::none, Role::key, "Whose."},
                            {"model", Type::text, Unit::none, Role::detail, "What it is called."}};
  constexpr Unit units[] = {Unit::ns, Unit::bytes, Unit::count, Unit::ratio, Unit::watts};
  for (size_t c = 0; c < columns; ++c) {
    const Unit unit = units[c % std::size(units)];
    const bool is_real = unit == Unit::ratio || unit == Unit::watts;
    const Role role = c % 2 && !is_real ? Role::counter : Role::value;
    schema.push_back({keep(fmt::format("some_{}_{}", c, unit_name(unit))),
                      is_real ? Type::real : Type::integer, unit, role,
                      "What this number is, in a sentence that is about as long as they are."});
  }
  Table table(name, schema);
  for (i64 row = 0; row < rows; ++row) {
    std::vector<Value> cells{row, "alice", "NVIDIA H100 80GB HBM3"};
    for (size_t c = 0; c < columns; ++c) {
      const i64 number = (row + 1) * 123'456'789'123 + static_cast<i64>(c);
      if (schema[c + 3].type == Type::real)
        cells.emplace_back(static_cast<double>(number % 9973) / 9973);
      else
        cells.emplace_back(number);
    }
    table.append(cells);
  }
  return table;
}

std::vector<SharedBatch> make_node() {
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = kNow;
  batch->period_ns = kSecond;
  const auto add = [&](const std::string& name, i64 rows, size_t columns) {
    batch->tables.push_back(make_table(name, rows, columns));
  };
  for (int t = 0; t < 12; ++t) add(fmt::format("machine{}", t), 1, 40);  // what there is one of
  add("gpu", 8, 60);
  add("gpu_activity", 8, 40);
  add("job", 64, 32);
  add("network", 12, 30);
  add("rdma", 8, 40);
  add("disk", 10, 24);
  add("filesystem", 20, 8);
  return {batch};
}

[[noreturn]] void wrong(const char* what) {
  fmt::print(stderr, "prometheus_bench: {}\n", what);
  std::exit(1);
}

// The number of samples.
size_t check(const std::vector<SharedBatch>& node, const std::string& page) {
  size_t wanted = 0, found = 0;
  for (const Table& table : node[0]->tables) wanted += table.rows() * (table.columns() - 2);
  wanted += 2 * node[0]->tables.size() + 1;  // when each was looked at, and what was left out of it
  for (size_t at = 0; at < page.size(); at = page.find('\n', at) + 1) found += page[at] != '#';
  if (found != wanted) wrong(fmt::format("{} samples on the page, {} in the tables", found, wanted).c_str());
  if (page.find("\nspotter_gpu_some_0_seconds{gpu=\"7\",user=\"alice\"} 987.654312984\n") == page.npos ||
      page.find("\nspotter_gpu_some_1_bytes_total{gpu=\"0\",user=\"alice\"} 123456789124\n") == page.npos)
    wrong("a value is not where it belongs");
  return found;
}

void run(int rounds) {
  const std::vector<SharedBatch> node = make_node();
  const std::string plain = api::metrics_page(node, kNow, "", "").body;
  fmt::print("{{\"samples\": {}, \"bytes\": {}, \"gzip_bytes\": {}", check(node, plain), plain.size(),
             api::metrics_page(node, kNow, "", "gzip").body.size());
  for (const auto& [what, accept, encoding] :
       {std::array{"text", "", ""},
        {"text_gzip", "", "gzip"},
        {"openmetrics", "application/openmetrics-text", ""},
        {"openmetrics_gzip", "application/openmetrics-text", "gzip"}}) {
    std::vector<Ns> took;
    for (int i = 0; i < rounds; ++i) {
      const Ns begin = steady_clock_now();
      const net::HttpAnswer answer = api::metrics_page(node, kNow, accept, encoding);
      took.push_back(steady_clock_now() - begin);
      if (answer.status != 200 || answer.body.empty()) wrong("no page");
    }
    std::ranges::nth_element(took, took.begin() + rounds / 2);
    fmt::print(", \"{}_ns\": {}", what, took[static_cast<size_t>(rounds) / 2]);
  }
  fmt::print("}}\n");
}

}  // namespace
}  // namespace spotter::bench

int main(int argc, char** argv) {
  spotter::bench::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 200);
  return 0;
}
