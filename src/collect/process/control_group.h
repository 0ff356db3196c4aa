// ControlGroup: limits and use of the control group that holds a job or a container, versions 1 and 2 of the
// interface. Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/system/host.h"
#include "collect/kernel_file.h"
#include "collect/process/identities.h"
#include "table/table.h"

namespace spotter::collect {

std::span<const Field> control_group_columns();

// The group that limits a process's job or container: that of its container, or of its Slurm job, else its
// own. Empty for the root group.
std::string limiting_group(const Who& who);

class ControlGroup {
 public:
  ControlGroup(const Host& host, std::string path, Who who);

  void set_owner(Who who) { who_ = std::move(who); }
  // The groups of its processes: version 1 counts what is killed in the group of the process alone.
  void set_leaves(const std::set<std::string>& paths);
  void append_to(Table& table);  // a row, with null for what the kernel does not tell
  // Whether it still was there, as far as the last row tells.
  bool is_there() const { return is_there_; }

 private:
  void read_v1(std::vector<Value>& row);
  void read_v2(std::vector<Value>& row);
  std::optional<i64> killed_v1();
  std::optional<i64> killed_v2(std::optional<i64> own);

  struct Leaf {
    KernelFile file;
    i64 killed = 0;
  };
  std::string mount_, path_;
  Who who_;
  bool is_v2_, is_there_ = true;
  std::vector<KernelFile> files_;
  std::optional<i64> killed_, killed_in_pod_;  // version 2, as the last row tells
  std::optional<KernelFile> pod_;              // version 2: what happened in the pod of its container
  std::map<std::string, Leaf> leaves_;         // version 1
  i64 killed_in_gone_ = 0;
};

}  // namespace spotter::collect
