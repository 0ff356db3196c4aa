#include "base/system/user_ids.h"

#include "base/quantity.h"
#include "base/system/file.h"

namespace spotter {
namespace {

constexpr size_t kMostMap = 64 << 10;
constexpr i64 kUsualOverflow = 65534;
constexpr i64 kAllUsers = 4294967295;  // all numbers but (uid_t)-1, which is none

std::string_view next_word(std::string_view& text) {
  constexpr std::string_view kBlanks = " \t\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

std::optional<i64> unmapped_uid(std::string_view uid_map, std::string_view overflow_uid) {
  // One line: first uid in here, first uid outside, how many.
  std::string_view rest = uid_map;
  const auto first = whole_number(next_word(rest));
  next_word(rest);
  const auto count = whole_number(next_word(rest));
  if (first == 0 && count == kAllUsers) return std::nullopt;
  return whole_number(next_word(overflow_uid)).value_or(kUsualOverflow);
}

std::optional<i64> unmapped_uid() {
  static const std::optional<i64> uid =
      unmapped_uid(read_small_file("/proc/self/uid_map", kMostMap).value_or(""),
                   read_small_file("/proc/sys/kernel/overflowuid", kMostMap).value_or(""));
  return uid;
}

}  // namespace spotter
