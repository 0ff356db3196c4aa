#include "analyze/memory/module_paths.h"

#include <algorithm>
#include <numeric>

#include "analyze/operators/path_text.h"
#include "analyze/operators/tree_order.h"
#include "trace/facts/module_spans.h"

namespace spotter::analyze {

u32 ModulePaths::at(u32 around, StringId name) {
  const int depth = all_[around].depth + 1;
  if (depth > kDeepest) return around;
  const auto [found, is_new] = ids_.try_emplace({around, name}, static_cast<u32>(all_.size()));
  if (is_new) all_.push_back({around, name, depth});
  return found->second;
}

// By the names from the innermost one outwards; a path comes right before those that end with it.
int ModulePaths::compare(u32 a, u32 b) const {
  for (; a != 0 && b != 0; a = all_[a].around, b = all_[b].around)
    if (all_[a].name != all_[b].name) return all_[a].name < all_[b].name ? -1 : 1;
  return a == b ? 0 : a == 0 ? -1 : 1;
}

bool ModulePaths::ends_with(u32 path, u32 end) const {
  for (; end != 0; path = all_[path].around, end = all_[end].around)
    if (path == 0 || all_[path].name != all_[end].name) return false;
  return true;
}

std::string ModulePaths::path_of(const Trace& trace, u32 module) const {
  const Module& own = all_[module];
  return path_text(own.around == 0 ? "" : path_of(trace, own.around),
                   trace::module_of_span(trace.strings()[own.name]));
}

// A path that one other alone ends with is of the same module, where less is around it: parts of the forward
// pass run again within the backward pass.
std::vector<std::string> ModulePaths::names(const Trace& trace) const {
  std::vector<u32> order(all_.size() - 1);
  std::iota(order.begin(), order.end(), 1);
  std::ranges::sort(order, [this](u32 a, u32 b) { return compare(a, b) < 0; });
  const auto is_whole = [&](size_t i) { return i + 1 == order.size() || !ends_with(order[i + 1], order[i]); };
  std::vector<std::string> names(all_.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    size_t whole = 0;
    for (; end < order.size() && all_[order[end]].name == all_[order[begin]].name; ++end)
      whole += is_whole(end);
    for (size_t i = begin; i < end; ++i) {
      u32 path = order[i];
      size_t ending = 0;
      for (size_t j = i; j < end && ending < 2 && ends_with(order[j], order[i]); ++j)
        if (is_whole(j) && ++ending == 1) path = order[j];
      names[order[i]] = whole == 1   ? std::string(trace::module_of_span(trace.strings()[all_[path].name]))
                        : ending > 1 ? path_of(trace, order[i])
                                     : path_of(trace, path);
    }
  }
  return names;
}

}  // namespace spotter::analyze
