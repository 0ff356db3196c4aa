// Maps of YAML by lists of their keys; the line of a wrong one is told.
#pragma once
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "base/text/utf8.h"

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

// Of a sink, a notifier: settings are texts or lists of texts; a list is its members with commas. Errors:
// invalid, with the line.
inline Result<Settings> read_settings(const YAML::Node& entry, const char* what) {
  const std::string line = fmt::format("line {}", entry.Mark().line + 1);
  if (!entry.IsMap()) return fail(Code::invalid, "{}: a {} must be a list of KEY: VALUE", line, what);
  Settings said;
  for (const auto& member : entry) {
    const YAML::Node& value = member.second;
    const std::string key = scalar(member.first);
    if (!value.IsScalar() && !value.IsSequence())
      return fail(Code::invalid, "{}: {}: it must be a word, or a list of words", line, to_printable(key));
    const std::string word = value.IsScalar()
                                 ? scalar(value)
                                 : fmt::format("{}", fmt::join(value.as<std::vector<std::string>>(), ","));
    if (!said.emplace(key, word).second)
      return fail(Code::invalid, "{}: {} is there twice", line, to_printable(key));
  }
  return said;
}

}  // namespace spotter::app
