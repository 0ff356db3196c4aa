#include "app/cli/words.h"

#include <algorithm>

namespace spotter::app {
std::string flag_of(const Param& param) {
  std::string name = param.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

std::string default_of(const Param& param) {
  if (!param.is_text()) return fmt::format(" (default {})", std::get<i64>(param.fallback));
  const std::string text = std::get<const char*>(param.fallback);
  return text.empty() ? text : fmt::format(" (default {})", text);
}

}  // namespace spotter::app
