#include "net/byte_budget.h"

#include <algorithm>
#include <utility>

namespace spotter::net {

u64 ByteBudget::add(std::string peer, std::function<void()> close) {
  holders_.emplace(next_, Holder{std::move(peer), std::move(close), 0});
  return next_++;
}

void ByteBudget::holds(u64 number, size_t bytes) {
  const auto it = holders_.find(number);
  if (it == holders_.end()) return;
  held_ += bytes - it->second.bytes;
  it->second.bytes = bytes;
  make_room();
}

void ByteBudget::remove(u64 number) {
  const auto it = holders_.find(number);
  if (it == holders_.end()) return;
  held_ -= it->second.bytes;
  holders_.erase(it);
}

void ByteBudget::make_room() {
  while (held_ > most_) {
    std::map<std::string, size_t> by_peer;
    size_t count = 0;  // of those that hold any
    for (const auto& [number, holder] : holders_) {
      by_peer[holder.peer] += holder.bytes;
      count += holder.bytes > 0;
    }
    if (count < 2) return;  // one alone may be as large as it is: what it may hold is bounded elsewhere
    const auto most =
        std::ranges::max_element(by_peer, {}, [](const auto& entry) { return entry.second; })->first;
    const auto oldest = std::ranges::find_if(
        holders_, [&](const auto& entry) { return entry.second.peer == most && entry.second.bytes > 0; });
    const auto close = std::move(oldest->second.close);
    remove(oldest->first);
    close();
  }
}

}  // namespace spotter::net
