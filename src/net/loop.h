// Loop: the one thread of a daemon, on which everything happens that has to do with sockets, timers, signals
// and the end of processes. It never blocks and has no wake-ups of its own. All functions are for that
// thread, but post() and stop(), which any thread may call.
#pragma once
#include <functional>
#include <initializer_list>
#include <memory>

#include "base/result.h"
#include "base/types.h"
#include "net/byte_budget.h"

namespace boost::asio {
class io_context;
}

namespace spotter::net {

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();  // until stop(), also one before it; may be run again
  void stop();
  void post(std::function<void()> work);
  // Posts for who may outlive the loop: work for one that is gone is dropped.
  std::function<void(std::function<void()> work)> poster() const;

  Ns now() const;  // of a steady clock

  // For as long as the loop lives.
  void on_signals(std::initializer_list<int> signals, std::function<void(int signal)> act);

  // Of all that is read and written on this loop by servers.
  ByteBudget& bytes() { return bytes_; }

  boost::asio::io_context& context() { return *context_; }  // for the files of net/

 private:
  struct Signals;
  struct Mailbox;
  ByteBudget bytes_;
  std::shared_ptr<Mailbox> mailbox_;
  std::unique_ptr<boost::asio::io_context> context_;
  std::unique_ptr<Signals> signals_;
};

// Raises this process's limit as far as it may be.
void allow_many_descriptors();

// Acts once, after a delay, unless it is set anew or destroyed before.
class Timer {
 public:
  explicit Timer(Loop& loop);
  ~Timer();
  void set(Ns delay, std::function<void()> act);
  void cancel();

 private:
  struct Body;
  std::shared_ptr<Body> body_;
};

// Tells when a process ends, even if it is nobody's child. Destroying it ends the watch.
class ProcessWatch {
 public:
  // Errors: not_found (there is no such process), io.
  static Result<std::unique_ptr<ProcessWatch>> open(Loop& loop, i64 pid, std::function<void()> ended);
  ~ProcessWatch();

 private:
  struct Body;
  explicit ProcessWatch(std::shared_ptr<Body> body);
  std::shared_ptr<Body> body_;
};

}  // namespace spotter::net
