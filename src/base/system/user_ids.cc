#include "base/system/user_ids.h"

#include <sstream>
#include <string>

#include "base/system/file.h"

namespace spotter {
namespace {

constexpr size_t kMostMap = 64 << 10;
constexpr i64 kUsualOverflow = 65534;
constexpr i64 kAllUsers = 4294967295;  // all numbers but (uid_t)-1, which is none

}  // namespace

std::optional<i64> unmapped_uid(std::string_view uid_map, std::string_view overflow_uid) {
  std::istringstream map{std::string(uid_map)}, overflow{std::string(overflow_uid)};
  // A line of the map: first uid in here, first uid outside, how many.
  i64 first = -1, outside = -1, count = -1, uid = kUsualOverflow;
  map >> first >> outside >> count;
  if (first == 0 && count == kAllUsers) return std::nullopt;
  if (i64 said = 0; overflow >> said) uid = said;
  return uid;
}

std::optional<i64> unmapped_uid() {
  static const std::optional<i64> uid =
      unmapped_uid(read_small_file("/proc/self/uid_map", kMostMap).value_or(""),
                   read_small_file("/proc/sys/kernel/overflowuid", kMostMap).value_or(""));
  return uid;
}

}  // namespace spotter
