// Every key that an on-demand config may have, of any release.
#pragma once
#include <span>
#include <string_view>

#include "base/types.h"

namespace spotter::kineto {

enum class KeyType : u8 {
  boolean,
  int32,  // 0 to 2147483647
  int64,  // from 0
  text,
  activities,  // a list of activity types, separated by commas
};

struct Key {
  std::string_view name;
  KeyType type;
  const char* remark = nullptr;  // what to say to whoever uses it
};

const Key* find_key(std::string_view name);  // nullptr: not known to any release
bool is_activity_type(std::string_view name_in_lower_case);

}  // namespace spotter::kineto
