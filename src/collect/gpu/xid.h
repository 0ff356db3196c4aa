// XID errors: the numbers that NVIDIA's driver gives to what goes wrong.
#pragma once
#include <string_view>

#include "base/types.h"

namespace spotter::collect {

// In a few words; empty where the number is not known. NVIDIA, "Xid Errors".
std::string_view xid_meaning(i64 xid);

}  // namespace spotter::collect
