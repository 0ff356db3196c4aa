// CaptureWaiters: who has asked to be told when a capture changes. The loop's thread.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/types.h"
#include "capture/captures.h"
#include "net/loop.h"

namespace spotter::agent {

class CaptureWaiters {
 public:
  CaptureWaiters(net::Loop& loop, const capture::Captures& captures);
  ~CaptureWaiters();  // tells nobody any more

  // Acts when the capture has a revision beyond `seen` or is over, or at the end of `patience`.
  void when_changed(const std::string& id, i64 seen, Ns patience, std::function<void()> act);
  void changed(const capture::Capture& capture);  // a listener of Captures

 private:
  struct Waiter;
  net::Loop& loop_;
  const capture::Captures& captures_;
  std::map<u64, std::unique_ptr<Waiter>> waiters_;
  u64 next_ = 0;
};

}  // namespace spotter::agent
