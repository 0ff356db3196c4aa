// For tests: a kernel of our own, with groups of events whose counts and times the test sets. Descriptors are
// real ones of /dev/null, so that what is not closed is seen. One thread.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "collect/pmu/pmu_counters.h"

namespace spotter::collect {

class FakeKernel {
 public:
  struct Event {
    u32 type;
    u64 config;
    u64 count = 0;
  };
  struct Group {
    i64 cpu;
    std::vector<Event> events;
    u64 enabled = 0, running = 0;
    ssize_t error = 0;
  };

  std::function<int(const perf_event_attr&, i64 cpu)> refuse = [](const perf_event_attr&, i64) { return 0; };
  size_t most_descriptors = 10'000;
  bool is_running = true;
  std::map<int, Group> groups;  // by the leader's descriptor

  PerfSystem system() {
    return {[this](const Host&) { return is_running; },
            [this](const perf_event_attr& attributes, i64 cpu, int leader) {
              return add(attributes, cpu, leader);
            },
            [this](int fd, std::span<u64> into) { return read(fd, into); }, most_descriptors};
  }

  // Time passes, and each event counts `count` times its configuration where its group runs all the time.
  void run(u64 time, u64 count, double share = 1) {
    for (auto& [fd, group] : groups) {
      group.enabled += time;
      group.running += static_cast<u64>(static_cast<double>(time) * share);
      for (Event& event : group.events)
        event.count += static_cast<u64>(static_cast<double>(count * event.config) * share);
    }
  }

 private:
  int add(const perf_event_attr& attributes, i64 cpu, int leader) {
    EXPECT_EQ(attributes.size, sizeof attributes);
    EXPECT_EQ(attributes.read_format,
              PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
    if (const int error = refuse(attributes, cpu)) return -error;
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const Event event{attributes.type, attributes.config};
    if (leader < 0) {
      groups[fd] = {cpu, {event}};
    } else {
      EXPECT_TRUE(groups.contains(leader));
      EXPECT_EQ(groups[leader].cpu, cpu);
      groups[leader].events.push_back(event);
    }
    return fd;
  }
  ssize_t read(int fd, std::span<u64> into) {
    const Group& group = groups.at(fd);
    if (group.error != 0) return group.error < 0 ? group.error : 0;
    EXPECT_EQ(into.size(), 3 + group.events.size());
    into[0] = group.events.size();
    into[1] = group.enabled;
    into[2] = group.running;
    for (size_t i = 0; i < group.events.size(); ++i) into[3 + i] = group.events[i].count;
    return static_cast<ssize_t>(into.size_bytes());
  }
};

}  // namespace spotter::collect
