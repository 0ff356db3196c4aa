#include "serve/desk.h"

#include <algorithm>

namespace spotter::serve {

Desk::Desk(net::Loop& loop, int workers, size_t cache_bytes) : post_(loop.poster()), cache_(cache_bytes) {
  for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
}

Desk::~Desk() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    queue_.clear();
    for (const auto& batch : under_way_) batch->cancelled = true;
  }
  has_work_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

std::function<void()> Desk::order(std::shared_ptr<Order> order, Take take) {
  if (const BodyPtr body = cache_.find(order->key)) {
    take(body);
    return [] {};
  }
  auto& takes = waiting_[order->key];
  const bool is_new = !takes;
  if (is_new) takes = std::make_shared<Takes>();
  takes->push_back(std::move(take));
  const auto back = [this, lives = std::weak_ptr(lives_), key = order->key, of = std::weak_ptr(takes),
                     it = std::prev(takes->end()), is_back = std::make_shared<bool>(false)] {
    if (!lives.expired() && !of.expired() && !std::exchange(*is_back, true)) take_back(key, it);
  };
  if (is_new) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(order));
    has_work_.notify_one();
  }
  return back;
}

// Where nobody waits for a batch any more it is given up; somebody who asks again orders anew.
void Desk::take_back(const std::string& key, Takes::iterator take) {
  const auto it = waiting_.find(key);
  if (it == waiting_.end()) return;  // it is being given
  it->second->erase(take);
  if (!it->second->empty()) return;
  waiting_.erase(it);
  const std::lock_guard lock(mutex_);
  std::erase_if(queue_, [&](const auto& order) { return order->key == key; });
  for (const auto& batch : under_way_)
    if (std::ranges::none_of(batch->orders, [&](const auto& o) { return waiting_.contains(o->key); }))
      batch->cancelled = true;
}

// Where one of its group is under way an order waits: its answer may come with that one.
std::deque<std::shared_ptr<Order>>::iterator Desk::next() {
  return std::ranges::find_if(queue_, [&](const std::shared_ptr<Order>& order) {
    return order->group.empty() || std::ranges::none_of(under_way_, [&](const std::shared_ptr<Batch>& batch) {
             return batch->orders[0]->group == order->group;
           });
  });
}

void Desk::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    has_work_.wait(lock, [this] { return ends_ || next() != queue_.end(); });
    if (ends_) return;
    auto batch = std::make_shared<Batch>();
    const std::shared_ptr<Order> first = *next();
    const auto goes_with = [&](const std::shared_ptr<Order>& order) {
      return order == first || (!first->group.empty() && order->group == first->group);
    };
    std::ranges::copy_if(queue_, std::back_inserter(batch->orders), goes_with);
    std::erase_if(queue_, goes_with);
    under_way_.push_back(batch);
    lock.unlock();
    auto made = std::make_shared<std::vector<Made>>(first->make(batch->orders, batch->cancelled));
    for (const auto& order : batch->orders)
      CHECK(std::ranges::find(*made, order->key, &Made::key) != made->end());
    lock.lock();
    under_way_.remove(batch);
    std::erase_if(queue_, [&](const std::shared_ptr<Order>& order) {
      const auto same = std::ranges::find(*made, order->key, &Made::key);
      return same != made->end() && same->body;
    });
    has_work_.notify_all();
    post_([this, lives = std::weak_ptr(lives_), batch, made] {
      if (!lives.expired()) is_done(*batch, std::move(*made));
    });
  }
}

void Desk::is_done(const Batch& batch, std::vector<Made> made) {
  for (Made& one : made) {
    if (!one.body) {
      // Who asked again meanwhile has ordered anew.
      if (batch.cancelled) continue;
      give(one.key, tl::unexpected(one.body.error()));
      continue;
    }
    const auto body = std::make_shared<const Body>(std::move(*one.body));
    if (one.is_kept) cache_.put(one.key, body);
    give(one.key, body);
  }
}

void Desk::give(const std::string& key, const Result<BodyPtr>& body) {
  const auto it = waiting_.find(key);
  if (it == waiting_.end()) return;
  const std::shared_ptr<Takes> takes = std::move(it->second);
  waiting_.erase(it);
  for (const Take& take : *takes) take(body);
}

}  // namespace spotter::serve
