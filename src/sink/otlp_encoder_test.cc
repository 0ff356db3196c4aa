#include "sink/otlp_encoder.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "sink/protobuf.h"
#include "sink/semantic_names.h"
#include "sink/test_batches.h"
#include "table/named_samples.h"

namespace spotter::sink {
namespace {

constexpr Ns kBoot = 1'000'000'000, kAgentStart = 4'000'000'000, kTime = 5'000'000'000;

// A message as the fields it has; numbers by their bits.
struct Message {
  std::multimap<u32, std::string> texts;
  std::multimap<u32, u64> numbers;

  static Message of(std::string_view bytes) {
    Message message;
    ProtobufReader reader(bytes);
    while (reader.next()) {
      if (reader.text.data()) {
        message.texts.emplace(reader.field, reader.text);
      } else {
        message.numbers.emplace(reader.field, reader.integer);
      }
    }
    EXPECT_FALSE(reader.is_broken);
    return message;
  }
  std::string text(u32 field) const {
    const auto it = texts.find(field);
    return it == texts.end() ? "" : it->second;
  }
  Message at(u32 field) const { return of(text(field)); }
  std::vector<Message> all(u32 field) const {
    std::vector<Message> found;
    for (auto [it, end] = texts.equal_range(field); it != end; ++it) found.push_back(of(it->second));
    return found;
  }
  bool has(u32 field) const { return numbers.contains(field) || texts.contains(field); }
  u64 number(u32 field) const { return numbers.find(field)->second; }
};

std::string attributes_of(const Message& message, u32 field) {
  std::map<std::string, std::string> sorted;
  for (const Message& pair : message.all(field)) {
    const Message value = pair.at(2);
    sorted[pair.text(1)] =
        value.has(1) ? value.text(1) : fmt::format("#{}", static_cast<i64>(value.number(3)));
  }
  std::string shown;
  for (const auto& [key, value] : sorted) shown += (shown.empty() ? "" : ",") + key + "=" + value;
  return shown;
}

// "name unit kind{attributes} start time value", sorted by name as they were written.
std::multimap<std::string, std::string> points_of(const std::string& request) {
  std::multimap<std::string, std::string> found;
  for (const Message& resource : Message::of(request).all(1)) {
    for (const Message& metric : resource.at(2).all(2)) {
      const bool is_sum = metric.has(7);
      const Message data = metric.at(is_sum ? 7 : 5);
      if (is_sum) {
        EXPECT_EQ(data.number(2), 2u);
      }
      const char* kind = !is_sum ? "gauge" : data.has(3) ? "counter" : "updown";
      for (const Message& point : data.all(1)) {
        const std::string value = point.has(6) ? fmt::format("{}", static_cast<i64>(point.number(6)))
                                               : fmt::format("r{}", std::bit_cast<double>(point.number(4)));
        found.emplace(metric.text(1),
                      fmt::format("{} {} {{{}}} {} {} {}", metric.text(3), kind, attributes_of(point, 7),
                                  point.has(2) ? point.number(2) : 0, point.number(3), value));
      }
    }
  }
  return found;
}

constexpr Field kAllUnits[] = {
    {"name", Type::text, Unit::none, Role::key, "K."},
    {"number", Type::integer, Unit::none, Role::key, "K."},
    {"busy_ns", Type::integer, Unit::ns, Role::counter, "Time."},
    {"wait_ns", Type::integer, Unit::ns, Role::value, "Time."},
    {"size_bytes", Type::integer, Unit::bytes, Role::value, "Size."},
    {"part_ratio", Type::real, Unit::ratio, Role::value, "Part."},
    {"up", Type::flag, Unit::none, Role::value, "Up."},
    {"state", Type::text, Unit::none, Role::value, "A text is no metric."},
    {"why", Type::text, Unit::none, Role::detail, "Another text each time."},
    {"job", Type::text, Unit::none, Role::detail, "Job."},
};

SharedBatch all_units() {
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = kTime;
  Table& table = batch->tables.emplace_back("things", kAllUnits);
  table.append(
      {"a", i64{7}, i64{1'500'000'000}, i64{250'000'000}, i64{1} << 60, 0.25, true, "fine", "x", "j1"});
  table.append(
      {Value(), Value(), Value(), Value(), Value(), std::nan(""), Value(), Value(), Value(), Value()});
  return batch;
}

TEST(OtlpEncoderTest, OurOwnNamespace) {
  OtlpEncoder encoder({{"service.name", "spotter"}, {"host.name", "n1"}}, kBoot, kAgentStart);
  const std::string request = encoder.encode(share_of(all_units()));
  const Message resource = Message::of(request).at(1).at(1);
  EXPECT_EQ(attributes_of(resource, 1), "host.name=n1,service.name=spotter");
  EXPECT_EQ(Message::of(request).at(1).at(2).at(1).text(1), "spotter");
  const std::multimap<std::string, std::string> expected = {
      {"spotter.things.busy", "s counter {name=a,number=#7} 1000000000 5000000000 r1.5"},
      {"spotter.things.wait", "s gauge {name=a,number=#7,spotter.job=j1} 0 5000000000 r0.25"},
      {"spotter.things.size_bytes",
       "By gauge {name=a,number=#7,spotter.job=j1} 0 5000000000 1152921504606846976"},
      {"spotter.things.part_ratio", "1 gauge {name=a,number=#7,spotter.job=j1} 0 5000000000 r0.25"},
      {"spotter.things.up", " gauge {name=a,number=#7,spotter.job=j1} 0 5000000000 1"},
  };
  EXPECT_EQ(points_of(request), expected);
}

TEST(OtlpEncoderTest, SamplesThatOthersNamed) {
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = kTime;
  Table& table = batch->tables.emplace_back("textfile_sample", table::kNamedSampleColumns);
  table.append({"h_bucket", "le=\"1\"", "h", "histogram", "Help.", "a.prom", {}, 2.0});
  table.append({"h_sum", "", "h", "histogram", "Help.", "a.prom", {}, 3.5});
  table.append({"h_bucket", "a=\"\\\"\",job=\"x\"", "h", "histogram", "Help.", "a.prom", {}, 4.0});
  table.append({"g", "", "g", "gauge", {}, "a.prom", -1.5, {}});
  OtlpEncoder encoder({}, kBoot, kAgentStart);
  const std::multimap<std::string, std::string> expected = {
      {"h_bucket", " counter {le=1} 1000000000 5000000000 r2"},
      {"h_bucket", " counter {a=\",exported_job=x} 1000000000 5000000000 r4"},
      {"h_sum", " counter {} 1000000000 5000000000 r3.5"},
      {"g", " gauge {} 0 5000000000 r-1.5"},
  };
  EXPECT_EQ(points_of(encoder.encode(share_of(batch))), expected);
}

constexpr Field kMemoryColumns[] = {
    {"total_bytes", Type::integer, Unit::bytes, Role::value, ""},
    {"free_bytes", Type::integer, Unit::bytes, Role::value, ""},
    {"buffers_bytes", Type::integer, Unit::bytes, Role::value, ""},
    {"cached_bytes", Type::integer, Unit::bytes, Role::value, ""},
    {"swap_total_bytes", Type::integer, Unit::bytes, Role::value, ""},
    {"swap_free_bytes", Type::integer, Unit::bytes, Role::value, ""},
};

std::set<std::string> values(const std::multimap<std::string, std::string>& points, const std::string& name) {
  std::set<std::string> found;
  for (auto [it, end] = points.equal_range(name); it != end; ++it) found.insert(it->second);
  return found;
}

TEST(OtlpEncoderTest, SemanticNamesOfMemory) {
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = kTime;
  batch->tables.emplace_back("memory", kMemoryColumns)
      .append({i64{100}, i64{40}, i64{5}, i64{25}, i64{8}, Value()});
  OtlpEncoder encoder({}, kBoot, kAgentStart);
  const auto points = points_of(encoder.encode(share_of(batch)));
  EXPECT_EQ(values(points, "system.memory.usage"),
            (std::set<std::string>{"By updown {system.memory.state=used} 1000000000 5000000000 30",
                                   "By updown {system.memory.state=free} 1000000000 5000000000 40",
                                   "By updown {system.memory.state=buffers} 1000000000 5000000000 5",
                                   "By updown {system.memory.state=cached} 1000000000 5000000000 25"}));
  EXPECT_EQ(values(points, "system.memory.limit"),
            std::set<std::string>{"By updown {} 1000000000 5000000000 100"});
  EXPECT_TRUE(values(points, "system.paging.usage").empty());  // what it is less is not told
}

constexpr Field kGpuColumns[] = {
    {"gpu", Type::integer, Unit::none, Role::key, ""},
    {"uuid", Type::text, Unit::none, Role::detail, ""},
    {"quality", Type::text, Unit::none, Role::detail, ""},
    {"power_watts", Type::real, Unit::watts, Role::value, ""},
    {"energy_joules", Type::real, Unit::joules, Role::counter, ""},
};

SharedBatch gpus(Ns time, double joules) {
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = time;
  Table& table = batch->tables.emplace_back("gpu", kGpuColumns);
  table.append({i64{0}, "GPU-1", "stale", 700.5, joules});
  table.append({i64{1}, Value(), Value(), 1.0, 1.0});
  return batch;
}

TEST(OtlpEncoderTest, HardwareHasAnIdOrNoSemanticName) {
  OtlpEncoder encoder({}, kBoot, kAgentStart);
  const auto points = points_of(encoder.encode(share_of(gpus(kTime, 9))));
  EXPECT_EQ(values(points, "hw.power"),
            std::set<std::string>{"W gauge {hw.id=GPU-1,hw.type=gpu} 0 5000000000 r700.5"});
  EXPECT_EQ(values(points, "hw.energy"),
            std::set<std::string>{"J counter {hw.id=GPU-1,hw.type=gpu} 1000000000 5000000000 r9"});
  EXPECT_EQ(values(points, "spotter.gpu.power_watts"),
            (std::set<std::string>{"W gauge {gpu=#0,hw.id=GPU-1} 0 5000000000 r700.5",
                                   "W gauge {gpu=#1} 0 5000000000 r1"}));
}

TEST(OtlpEncoderTest, ACounterThatBeginsAnewHasANewStart) {
  OtlpEncoder encoder({}, kBoot, kAgentStart);
  encoder.encode(share_of(gpus(kTime, 9)));
  const auto points = points_of(encoder.encode(share_of(gpus(kTime + 10, 2))));
  EXPECT_EQ(values(points, "hw.energy"),
            std::set<std::string>{"J counter {hw.id=GPU-1,hw.type=gpu} 5000000000 5000000010 r2"});
}

TEST(OtlpEncoderTest, TheNextJobOnAGpuGoesOnWithItsCounters) {
  constexpr Field kColumns[] = {
      {"gpu", Type::integer, Unit::none, Role::key, ""},
      {"uuid", Type::text, Unit::none, Role::detail, ""},
      {"job", Type::text, Unit::none, Role::detail, ""},
      {"memory_used_bytes", Type::integer, Unit::bytes, Role::value, ""},
      {"power_watts", Type::real, Unit::watts, Role::value, ""},
      {"energy_joules", Type::real, Unit::joules, Role::counter, ""},
  };
  OtlpEncoder encoder({}, kBoot, kAgentStart);
  const auto look = [&](Ns time, const char* job) {
    auto batch = std::make_shared<Batch>();
    batch->unix_ns = time;
    batch->tables.emplace_back("gpu", kColumns).append({i64{0}, "GPU-1", job, i64{5}, 1.0, 9.0});
    return points_of(encoder.encode(share_of(batch)));
  };
  look(kTime, "j1");
  const auto points = look(kTime + 10, "j2");
  EXPECT_EQ(values(points, "hw.energy"),
            std::set<std::string>{"J counter {hw.id=GPU-1,hw.type=gpu} 1000000000 5000000010 r9"});
  EXPECT_EQ(values(points, "spotter.gpu.energy_joules"),
            std::set<std::string>{"J counter {gpu=#0,hw.id=GPU-1} 1000000000 5000000010 r9"});
  EXPECT_EQ(values(points, "hw.gpu.memory.usage"),
            std::set<std::string>{"By updown {hw.id=GPU-1} 1000000000 5000000010 5"});
  EXPECT_EQ(values(points, "hw.power"),
            std::set<std::string>{"W gauge {hw.id=GPU-1,hw.type=gpu,spotter.job=j2} 0 5000000010 r1"});
  EXPECT_EQ(values(points, "spotter.gpu.memory_used_bytes"),
            std::set<std::string>{"By gauge {gpu=#0,hw.id=GPU-1,spotter.job=j2} 0 5000000010 5"});
}

TEST(OtlpEncoderTest, MemoryAndErrorsOfAGpu) {
  constexpr Field kColumns[] = {
      {"uuid", Type::text, Unit::none, Role::key, ""},
      {"memory_total_bytes", Type::integer, Unit::bytes, Role::value, ""},
      {"memory_used_bytes", Type::integer, Unit::bytes, Role::value, ""},
      {"ecc_corrected_volatile", Type::integer, Unit::count, Role::counter, ""},
      {"ecc_corrected_aggregate", Type::integer, Unit::count, Role::counter, ""},
  };
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = kTime;
  Table& table = batch->tables.emplace_back("gpu", kColumns);
  table.append({"a", i64{8}, i64{2}, i64{1}, i64{700}});
  table.append({"b", i64{0}, i64{2}, Value(), Value()});
  table.append({"c", Value(), i64{2}, Value(), Value()});
  OtlpEncoder encoder({}, kBoot, kAgentStart);
  const auto points = points_of(encoder.encode(share_of(batch)));
  EXPECT_EQ(values(points, "hw.gpu.memory.utilization"),
            std::set<std::string>{"1 gauge {hw.id=a} 0 5000000000 r0.25"});
  // Of this boot, not of the GPU's life.
  EXPECT_EQ(values(points, "hw.errors"),
            std::set<std::string>{
                "{error} counter {error.type=corrected,hw.id=a,hw.type=gpu} 1000000000 5000000000 1"});
}

TEST(OtlpEncoderTest, KeysThatBackEndsHaveThemselves) {
  constexpr Field kColumns[] = {
      {"gpu", Type::integer, Unit::none, Role::key, ""},
      {"instance", Type::integer, Unit::none, Role::key, ""},
      {"memory_used_bytes", Type::integer, Unit::bytes, Role::value, ""},
  };
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = kTime;
  batch->tables.emplace_back("gpu_mig", kColumns).append({i64{0}, i64{3}, i64{5}});
  OtlpEncoder encoder({}, kBoot, kAgentStart);
  EXPECT_EQ(values(points_of(encoder.encode(share_of(batch))), "spotter.gpu_mig.memory_used_bytes"),
            std::set<std::string>{"By gauge {gpu=#0,spotter.instance=#3} 0 5000000000 5"});
}

TEST(OtlpEncoderTest, WhatTheAgentCountsItselfBeganWithIt) {
  constexpr Field kColumns[] = {
      {"job", Type::text, Unit::none, Role::key, ""},
      {"read_bytes", Type::integer, Unit::bytes, Role::counter, "", Since::agent},
      {"oom_kills", Type::integer, Unit::count, Role::counter, ""},
  };
  OtlpEncoder encoder({}, kBoot, kAgentStart);
  const auto look = [&](Ns time, std::initializer_list<const char*> jobs) {
    auto batch = std::make_shared<Batch>();
    batch->unix_ns = time;
    Table& table = batch->tables.emplace_back("job", kColumns);
    for (const char* job : jobs) table.append({job, i64{7}, i64{1}});
    return points_of(encoder.encode(share_of(batch)));
  };
  const auto first = look(kTime, {"a"}), second = look(kTime + 10, {"b"});
  EXPECT_EQ(values(first, "spotter.job.read_bytes"),
            std::set<std::string>{"By counter {spotter.job=a} 4000000000 5000000000 7"});
  EXPECT_EQ(values(first, "spotter.job.oom_kills"),
            std::set<std::string>{"{count} counter {spotter.job=a} 1000000000 5000000000 1"});
  EXPECT_EQ(values(second, "spotter.job.read_bytes"),
            std::set<std::string>{"By counter {spotter.job=b} 5000000000 5000000010 7"});
}

TEST(OtlpEncoderTest, EventsAndNothingAreNoMetrics) {
  constexpr Field kEvent[] = {{"time_ns", Type::integer, Unit::ns, Role::time, ""},
                              {"count", Type::integer, Unit::count, Role::value, ""}};
  auto batch = std::make_shared<Batch>();
  Table& events = batch->tables.emplace_back("gpu_event", kEvent);
  events.is_events = true;
  events.append({i64{1}, i64{1}});
  batch->tables.emplace_back("gpu", kGpuColumns);
  OtlpEncoder encoder({}, kBoot, kAgentStart);
  EXPECT_EQ(encoder.encode(share_of(batch)), "");
}

TEST(OtlpEncoderTest, TextsOfOthers) {
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = kTime;
  batch->tables.emplace_back("disk", kDiskColumns).append({"\xff" + std::string(5000, 'x'), i64{1}, 0.5});
  OtlpEncoder encoder({}, 0, 0);
  const auto points = points_of(encoder.encode(share_of(batch)));
  const std::string name = "\xef\xbf\xbd" + std::string(255, 'x');
  EXPECT_EQ(
      values(points, "system.disk.io"),
      std::set<std::string>{"By counter {disk.io.direction=read,system.device=" + name + "} 0 5000000000 1"});
}

TEST(SemanticNamesTest, EntriesOfOneMetricStandTogetherAndAgree) {
  std::set<std::string> seen;
  const SemanticName* last = nullptr;
  for (const SemanticName& name : semantic_names()) {
    const std::string key = fmt::format("{} {}", name.table, name.name);
    if (last && key == fmt::format("{} {}", last->table, last->name)) {
      EXPECT_EQ(std::string(name.unit), last->unit) << key;
      EXPECT_EQ(name.instrument, last->instrument) << key;
    } else {
      EXPECT_TRUE(seen.insert(key).second) << key;
    }
    last = &name;
  }
}

TEST(SemanticNamesTest, OfATableBeforeThoseOfAll) {
  EXPECT_STREQ(find_attribute("disk", "device")->name, "system.device");
  EXPECT_STREQ(find_attribute("gpu_activity", "uuid")->name, "hw.id");
  EXPECT_EQ(find_attribute("gpu", "quality"), nullptr);
}

}  // namespace
}  // namespace spotter::sink
