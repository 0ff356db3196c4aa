#include "bench/made_up_host.h"

#include <algorithm>
#include <cmath>

#include "base/time.h"

namespace spotter::bench {
namespace {

constexpr i64 kStart = 1'700'006'400 * kSecond;  // midnight
constexpr const char* kColumnNames[] = {"a",  "b",  "c",  "d",  "e",  "f",  "g",  "h",  "i",  "j",
                                        "k",  "l",  "m",  "n",  "o",  "p",  "q",  "r",  "s",  "t",
                                        "u",  "v",  "w",  "x",  "y",  "z",  "aa", "ab", "ac", "ad",
                                        "ae", "af", "ag", "ah", "ai", "aj", "ak", "al", "am", "an"};

std::vector<std::string> numbered(const char* name, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(name + std::to_string(i));
  return names;
}

}  // namespace

bench::MadeUpHost::MadeUpHost(u64 seed) : random_(seed) {
  using S = Shape;
  const auto of = [](std::initializer_list<std::pair<S, int>> parts) {
    std::vector<S> shapes;
    for (const auto& [shape, count] : parts) shapes.insert(shapes.end(), static_cast<size_t>(count), shape);
    return shapes;
  };
  add("cpu", {""}, of({{S::constant, 1}, {S::ticks, 7}, {S::constant, 3}, {S::packets, 2}, {S::small, 2}}));
  add("cpu_node", numbered("", 2), of({{S::constant, 1}, {S::ticks, 7}, {S::constant, 3}}));
  add("load", {""}, of({{S::percent, 3}, {S::small, 2}}));
  add("memory", {""}, of({{S::pages, 20}, {S::constant, 12}}));
  add("memory_node", numbered("", 2), of({{S::pages, 6}, {S::constant, 2}}));
  add("pressure", {"cpu", "io", "memory"}, of({{S::percent, 3}, {S::ns, 2}}));
  add("vmstat", {""}, of({{S::packets, 14}, {S::pages, 4}, {S::rare, 8}, {S::constant, 6}}));
  add("disk", numbered("nvme", 4), of({{S::packets, 3}, {S::bytes, 3}, {S::ns, 4}, {S::small, 1}}));
  add("filesystem", numbered("/mnt/", 4), of({{S::pages, 2}, {S::constant, 2}, {S::small, 1}}));
  add("network", numbered("eth", 4), of({{S::bytes, 2}, {S::packets, 2}, {S::rare, 2}, {S::constant, 8}}));
  add("rdma", numbered("mlx5_", 8), of({{S::bytes, 2}, {S::packets, 2}, {S::rare, 2}, {S::constant, 5}}));
  add("interrupts", numbered("", 16), of({{S::packets, 1}}));
  add("softirq", {""}, of({{S::packets, 8}, {S::constant, 2}}));
  add("sockets", {""}, of({{S::small, 4}, {S::constant, 4}}));
  add("tcp", {""}, of({{S::packets, 4}, {S::rare, 6}}));
  add("uptime", {""}, of({{S::percent, 1}, {S::constant, 1}}));
  add("entropy", {""}, of({{S::constant, 2}}));
  add("gpu", numbered("", 4),
      of({{S::small, 2}, {S::level, 2}, {S::pages, 1}, {S::bytes, 2}, {S::rare, 2}, {S::constant, 4}}), true);
  add("process", numbered("", 6),
      of({{S::ns, 2}, {S::pages, 2}, {S::packets, 2}, {S::small, 1}, {S::constant, 1}}), true);
  add("agent", {""}, of({{S::ns, 1}, {S::pages, 1}, {S::small, 3}}));
}

void bench::MadeUpHost::add(const char* name, std::vector<std::string> entities, std::vector<Shape> shapes,
                            bool has_job) {
  Group& group = groups_.emplace_back();
  group.name = name;
  group.entities = std::move(entities);
  group.shapes = std::move(shapes);
  group.has_key = group.entities.size() > 1;
  group.has_job = has_job;
  if (group.has_key) group.fields.push_back({"key", Type::text, Unit::none, Role::key, "Which."});
  if (has_job) {
    group.fields.push_back({"job", Type::text, Unit::none, Role::detail, "Its job."});
    group.fields.push_back({"user", Type::text, Unit::none, Role::detail, "Whose."});
    group.fields.push_back({"rank", Type::integer, Unit::none, Role::detail, "Its rank."});
  }
  for (size_t i = 0; i < group.shapes.size(); ++i) {
    const Shape shape = group.shapes[i];
    const bool is_real = shape == Shape::percent || shape == Shape::level;
    const bool is_gauge =
        is_real || shape == Shape::pages || shape == Shape::small || shape == Shape::constant;
    group.fields.push_back({kColumnNames[i], is_real ? Type::real : Type::integer, Unit::count,
                            is_gauge ? Role::value : Role::counter, "A number."});
  }
  for (size_t i = 0; i < group.entities.size(); ++i) {
    group.busy.push_back(i % 3 == 2 ? 0.02 : 1.0);  // some devices are hardly used
    for (const Shape shape : group.shapes)
      group.values.push_back(shape == Shape::percent || shape == Shape::level
                                 ? 40.0
                                 : static_cast<double>(random_() % 10'000'000'000));
  }
}

i64 bench::MadeUpHost::series() const {
  size_t all = 0;
  for (const Group& group : groups_) all += group.values.size();
  return static_cast<i64>(all);
}

// `work`: 0 idle, 1 busy.
void bench::MadeUpHost::move(Shape shape, double work, double& value) {
  std::normal_distribution<double> normal;
  const auto grow = [&](double rate) {
    const double mean = rate * work, step = mean + std::sqrt(mean) * 3 * normal(random_);
    value += std::max(0.0, std::floor(step));
  };
  const double chance = static_cast<double>(random_() % 1000) / 1000;
  switch (shape) {
    case Shape::constant:
      break;
    case Shape::ticks:
      grow(300);
      break;
    case Shape::ns:
      grow(40'000'000);
      break;
    case Shape::bytes:
      grow(chance < 0.1 ? 40'000'000 : 3'000'000);
      break;
    case Shape::packets:
      grow(chance < 0.1 ? 5000 : 800);
      break;
    case Shape::rare:
      if (chance < 0.002 * work) value += 1;
      break;
    case Shape::pages:
      if (chance < 0.3 + 0.6 * work) value = std::max(0.0, value + std::floor(200 * normal(random_)));
      break;
    case Shape::small:
      value = std::max(0.0, std::floor(4 * work + 2 * normal(random_)));
      break;
    case Shape::percent:
      value = std::clamp(value + std::round(30 * work * normal(random_)) / 100, 0.0, 100.0);
      value = std::round(value * 100) / 100;
      break;
    case Shape::level:
      value = std::round((value + normal(random_)) * 1000) / 1000;
      break;
  }
}

Batch bench::MadeUpHost::next() {
  // Timers are late by tens of microseconds.
  Batch batch{kStart + second_ * kSecond + static_cast<i64>(random_() % 200'000), kSecond, {}};
  const bool is_day = second_ % 86400 > 6 * 3600;
  const std::string job = "job" + std::to_string(second_ / 20000);
  for (Group& group : groups_) {
    Table& table = batch.tables.emplace_back(group.name, group.fields);
    size_t at = 0;
    std::vector<Value> row;
    for (size_t entity = 0; entity < group.entities.size(); ++entity) {
      row.clear();
      if (group.has_key) row.push_back(std::string_view(group.entities[entity]));
      if (group.has_job) row.insert(row.end(), {std::string_view(job), "alice", static_cast<i64>(entity)});
      for (const Shape shape : group.shapes) {
        double& value = group.values[at++];
        move(shape, group.busy[entity] * (is_day ? 1.0 : 0.05), value);
        const double unit = shape == Shape::ticks ? 1e7 : shape == Shape::pages ? 4096 : 1;
        if (shape == Shape::percent || shape == Shape::level) {
          row.push_back(value);
        } else {
          row.push_back(static_cast<i64>(value) * static_cast<i64>(unit));
        }
      }
      table.append(row);
    }
  }
  ++second_;
  return batch;
}

}  // namespace spotter::bench
