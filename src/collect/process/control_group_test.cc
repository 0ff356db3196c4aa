#include "collect/process/control_group.h"

#include <gtest/gtest.h>

#include "collect/test_machine.h"

namespace spotter::collect {
namespace {

constexpr const char* kRoot = "sys/fs/cgroup";

class ControlGroupTest : public testing::Test {
 protected:
  // Kills that a row tells; -1: it tells none, -2: there is no row.
  static i64 kills(ControlGroup& group) {
    Table table("cgroup", control_group_columns());
    group.append_to(table);
    if (table.rows() == 0) return -2;
    const Value value = table.at(0, table.column("oom_kills"));
    return is_null(value) ? -1 : std::get<i64>(value);
  }
  void killed_in(const std::string& group, i64 count) {
    machine.write(fmt::format("{}{}/memory.events", kRoot, group),
                  fmt::format("low 0\nhigh 0\nmax 3\noom {0}\noom_kill {0}\n", count));
    machine.write(fmt::format("{}{}/cpu.stat", kRoot, group), "usage_usec 5\n");
  }
  void killed_in_v1(const std::string& group, i64 count) {
    machine.write(fmt::format("{}/memory{}/memory.oom_control", kRoot, group),
                  fmt::format("oom_kill_disable 0\nunder_oom 0\noom_kill {}\n", count));
    machine.write(fmt::format("{}/memory{}/memory.usage_in_bytes", kRoot, group), "5\n");
  }
  // As open files of a group that has gone: they say nothing.
  void remove(const std::string& group) {
    for (const auto& file : std::filesystem::directory_iterator(machine.path(kRoot + group)))
      if (file.is_regular_file()) std::filesystem::resize_file(file.path(), 0);
  }
  static Who who(const std::string& container) {
    Who who;
    who.job = "7";
    who.container = container;
    return who;
  }

  TestMachine machine;
};

// Of a container whose last process is killed nothing is left but its pod's group.
TEST_F(ControlGroupTest, APodTellsOfItsContainer) {
  machine.write(std::string(kRoot) + "/cgroup.controllers", "cpu memory\n");
  for (const char* pod : {"/kubepods/burstable/pod17", "/kubepods.slice/kubepods-burstable-pod17.slice"}) {
    const std::string path = std::string(pod) + "/cri-containerd-ab12.scope";
    ControlGroup group(machine.host(), path, who("ab12"));
    killed_in(pod, 2);
    killed_in(path, 1);
    EXPECT_EQ(kills(group), 1);
    killed_in(pod, 4);  // two in a sidecar
    EXPECT_EQ(kills(group), 1);
    killed_in(pod, 5);
    remove(path);
    EXPECT_EQ(kills(group), 2);
    EXPECT_FALSE(group.is_there());
  }
  ControlGroup alone(machine.host(), "/system.slice/docker-cd34.scope", who("cd34"));
  killed_in("/system.slice", 9);
  killed_in("/system.slice/docker-cd34.scope", 1);
  EXPECT_EQ(kills(alone), 1);
  remove("/system.slice/docker-cd34.scope");
  EXPECT_EQ(kills(alone), -2);
}

// memory.oom_control is of a group alone, not of those in it (cgroup-v1/memory.rst).
TEST_F(ControlGroupTest, Version1CountsInTheGroupsOfProcesses) {
  const std::string job = "/slurm/uid_1/job_7", first = job + "/step_0/task_0",
                    second = job + "/step_0/task_1";
  ControlGroup group(machine.host(), job, who(""));
  EXPECT_EQ(kills(group), -2);
  killed_in_v1(job, 0);
  killed_in_v1(first, 0);
  killed_in_v1(second, 1);
  group.set_leaves({first, second});
  EXPECT_EQ(kills(group), 1);
  killed_in_v1(first, 2);
  EXPECT_EQ(kills(group), 3);
  // Its processes go and come again.
  group.set_leaves({first});
  EXPECT_EQ(kills(group), 3);
  group.set_leaves({first, second});
  EXPECT_EQ(kills(group), 3);
  // What was counted stays so.
  remove("/memory" + second);
  EXPECT_EQ(kills(group), 3);
  group.set_leaves({first});
  EXPECT_EQ(kills(group), 3);
  killed_in_v1(first, 3);
  EXPECT_EQ(kills(group), 4);
}

}  // namespace
}  // namespace spotter::collect
