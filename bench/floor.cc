// floor FILE.gz ROUNDS: times the floor alone. Prints one JSON object: the best and the median round in ns,
// the size of the JSON, and the sums.
#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/system/file.h"
#include "bench/floor_walk.h"

int main(int argc, char** argv) {
  using namespace spotter;
  const int rounds = argc == 3 ? std::atoi(argv[2]) : 0;
  if (rounds < 1) {
    fmt::print(stderr, "usage: floor FILE.gz ROUNDS\n");
    return 2;
  }
  auto file = read_small_file(argv[1], ~size_t{0});
  if (!file) {
    fmt::print(stderr, "floor: {}\n", file.error().message);
    return 1;
  }
  bench::Floor floor;
  Result<bench::Sums> sums = floor.run(*file);  // warms the buffers
  std::vector<i64> times;
  for (int i = 0; i < rounds && sums; ++i) {
    const auto start = std::chrono::steady_clock::now();
    sums = floor.run(*file);
    times.push_back(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  }
  if (!sums) {
    fmt::print(stderr, "floor: {}: {}\n", argv[1], sums.error().message);
    return 1;
  }
  std::sort(times.begin(), times.end());
  fmt::print("{{\"best_ns\": {}, \"median_ns\": {}, \"json_bytes\": {}, \"sums\": {}}}\n", times.front(),
             times[times.size() / 2], floor.json_bytes(), bench::to_json(*sums));
}
