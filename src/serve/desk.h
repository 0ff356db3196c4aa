// Desk: answers that take time are ordered here. Worker threads make them, so many at once; the others wait.
// Orders of one key are made once, those of one group may be made together, and an answer that nobody waits
// for any more is given up. On the loop's thread, but for Order::make().
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "net/loop.h"
#include "serve/cache.h"

namespace spotter::serve {

// What a worker has made.
struct Made {
  std::string key;  // of an order, or of an answer that came with it
  Result<Body> body;
  bool is_kept = true;
};

class Order {
 public:
  // `group`: equal ones may be made together; empty: alone.
  Order(std::string of_key, std::string of_group) : key(std::move(of_key)), group(std::move(of_group)) {}
  virtual ~Order() = default;
  // Makes this one and others of its group, all of its class, at least one answer for each. Any thread.
  virtual std::vector<Made> make(std::span<const std::shared_ptr<Order>> all,
                                 const std::atomic<bool>& cancelled) = 0;
  const std::string key, group;
};

class Desk {
 public:
  using BodyPtr = std::shared_ptr<const Body>;
  using Take = std::function<void(const Result<BodyPtr>&)>;
  Desk(net::Loop& loop, int workers, size_t cache_bytes);
  ~Desk();  // waits for the workers, whose work is cancelled
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  BodyPtr find(const std::string& key) { return cache_.find(key); }
  // Takes the answer, once: now if it is there, else later. What it returns takes the wish back.
  std::function<void()> order(std::shared_ptr<Order> order, Take take);

 private:
  struct Batch {  // what one worker is at
    std::vector<std::shared_ptr<Order>> orders;
    std::atomic<bool> cancelled = false;
  };
  using Takes = std::list<Take>;
  void work();
  void take_back(const std::string& key, Takes::iterator take);
  std::deque<std::shared_ptr<Order>>::iterator next();  // of the queue; under the lock
  void is_done(const Batch& batch, std::vector<Made> made);
  void give(const std::string& key, const Result<BodyPtr>& body);

  std::function<void(std::function<void()>)> post_;
  Cache cache_;
  std::map<std::string, std::shared_ptr<Takes>> waiting_;  // by key
  std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);

  std::mutex mutex_;  // of what is below
  std::condition_variable has_work_;
  std::deque<std::shared_ptr<Order>> queue_;
  std::list<std::shared_ptr<Batch>> under_way_;
  bool ends_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace spotter::serve
