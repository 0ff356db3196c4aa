// Delivery: a thread for each notifier, so that a receiver that hangs delays only itself, and what each does
// (courier.h). Whoever puts words into the outbox calls wake().
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "notify/courier.h"

namespace spotter::notify {

struct DeliveryOptions {
  CourierLimits limits = {};
  Ns hang_time = kSecond;  // at the end, for what is under way
  Chance chance = {};      // empty: the machine's clock and its randomness
};

class Delivery {
 public:
  // Errors: busy (no thread can be had).
  static Result<std::unique_ptr<Delivery>> start(std::vector<Receiver> receivers,
                                                 std::shared_ptr<Outbox> outbox,
                                                 DeliveryOptions options = {});
  // What is not delivered stays in the outbox. A notifier that hangs even when it is interrupted is left
  // behind with its thread.
  ~Delivery();
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  void wake();  // any thread; waits for nobody
  std::vector<NotifierState> state() const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Body;
  Delivery() = default;
  std::vector<std::shared_ptr<Body>> bodies_;
  std::vector<std::string> names_;
  Ns hang_time_ = 0;
};

}  // namespace spotter::notify
