#include "kineto/contexts.h"

#include <algorithm>

namespace spotter::kineto {

i64 Contexts::count(i64 pid, const Context& context) {
  const auto [own, is_new] = of_.try_emplace(pid);
  std::deque<Context>& contexts = own->second;
  if (std::ranges::find(contexts, context) == contexts.end()) {
    contexts.push_back(context);
    ++counts_[context];
    if (contexts.size() > kMostOfOne) {
      leave(contexts.front());
      contexts.pop_front();
    }
  }
  if (is_new) {
    order_.push_back(pid);
    while (order_.size() > kMostProcesses) {
      const i64 oldest = order_.front();
      order_.pop_front();
      if (std::ranges::find(order_, oldest) == order_.end()) gone(oldest);
    }
  }
  return counts_.at(context);
}

void Contexts::gone(i64 pid) {
  const auto own = of_.extract(pid);
  if (own.empty()) return;
  for (const Context& context : own.mapped()) leave(context);
}

void Contexts::leave(const Context& context) {
  const auto it = counts_.find(context);
  if (--it->second == 0) counts_.erase(it);
}

}  // namespace spotter::kineto
