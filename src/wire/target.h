// Target: what a request's first line asks for: a path, and the parameters behind its "?".
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace spotter::wire {

struct Target {
  std::string_view path;
  std::vector<std::pair<std::string, std::string>> parameters = {};  // without their %XX

  explicit Target(std::string_view target);  // which has to live as long
  i64 number(std::string_view name, i64 otherwise) const;
  std::string text(std::string_view name) const;  // empty where there is none
  // Errors: invalid (a parameter of another name, or one that is there twice).
  Result<void> has_only(std::span<const std::string_view> names) const;
};

// The other way: what is no letter, digit or one of "-._~*" as %XX.
std::string escaped_parameter(std::string_view text);
// What stands between two slashes of a path.
std::string unescaped_segment(std::string_view segment);

}  // namespace spotter::wire
