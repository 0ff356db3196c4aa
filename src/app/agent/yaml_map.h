// Maps of YAML by lists of their keys; the line of a wrong one is told.
#pragma once
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>

#include "base/result.h"
#include "base/utf8.h"

namespace spotter::app {

inline std::string scalar(const YAML::Node& node) { return node.as<std::string>(); }

template <class To>
struct Key {
  const char* name;
  Result<void> (*read)(const YAML::Node& node, To& to);
};

template <class To>
using ReadOther = Result<bool> (*)(const std::string& name, const YAML::Node& node, To& to);

// `other` reads what is none of `keys`; false: there is no such key at all.
template <class To>
Result<void> read_map(const YAML::Node& map, std::span<const Key<To>> keys, To& to,
                      ReadOther<To> other = nullptr) {
  if (!map.IsMap()) return fail(Code::invalid, "it must be a list of KEY: VALUE");
  std::set<std::string> seen;
  for (const auto& entry : map) {
    const std::string name = scalar(entry.first);
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key<To>& k) { return name == k.name; });
    const std::string line = fmt::format("line {}", entry.first.Mark().line + 1);
    if (!seen.insert(name).second)
      return fail(Code::invalid, "{}: {} is there twice", line, to_printable(name));
    Result<bool> is_read = false;
    if (key != keys.end())
      is_read = key->read(entry.second, to).map([] { return true; });
    else if (other)
      is_read = other(name, entry.second, to);
    if (!is_read) {
      if (is_read.error().message.starts_with("line ")) return tl::unexpected(is_read.error());  // further in
      return within(is_read.error(), fmt::format("{}: {}", line, name));
    }
    if (!*is_read) return fail(Code::invalid, "{}: there is no key {}", line, to_printable(name));
  }
  return {};
}

}  // namespace spotter::app
