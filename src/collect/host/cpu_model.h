// Which processor a machine has: the first of /proc/cpuinfo.
#pragma once
#include <string>

#include "base/system/host.h"
#include "base/types.h"

namespace spotter::collect {

struct CpuModel {
  std::string vendor;           // "GenuineIntel", "AuthenticAMD", "Arm" (whoever made it); empty: not known
  i64 family = -1, model = -1;  // of Arm: the implementer and the part
};
CpuModel read_cpu_model(const Host& host);

}  // namespace spotter::collect
