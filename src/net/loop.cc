#include "net/loop.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <mutex>

namespace spotter::net {

namespace asio = boost::asio;

struct Loop::Signals {
  Signals(asio::io_context& context, std::initializer_list<int> signals, std::function<void(int)> f)
      : set(context), act(std::move(f)) {
    for (const int signal : signals) set.add(signal);
  }
  void wait() {
    set.async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      act(signal);
      wait();
    });
  }
  asio::signal_set set;
  std::function<void(int)> act;
};

struct Loop::Mailbox {
  std::mutex mutex;
  Loop* loop;  // null: it is gone
};

Loop::Loop() : mailbox_(std::make_shared<Mailbox>()), context_(std::make_unique<asio::io_context>(1)) {
  mailbox_->loop = this;
}
Loop::~Loop() {
  const std::lock_guard lock(mailbox_->mutex);
  mailbox_->loop = nullptr;
}

void Loop::run() {
  {
    const auto work = asio::make_work_guard(*context_);
    context_->run();
  }
  context_->restart();  // last: without any work the context stops by itself
}
void Loop::stop() { context_->stop(); }
void Loop::post(std::function<void()> work) { asio::post(*context_, std::move(work)); }

std::function<void(std::function<void()>)> Loop::poster() const {
  return [mailbox = mailbox_](std::function<void()> work) {
    const std::lock_guard lock(mailbox->mutex);
    if (mailbox->loop) mailbox->loop->post(std::move(work));
  };
}

Ns Loop::now() const {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Loop::on_signals(std::initializer_list<int> signals, std::function<void(int)> act) {
  signals_ = std::make_unique<Signals>(*context_, signals, std::move(act));
  signals_->wait();
}

void allow_many_descriptors() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

struct Timer::Body {
  explicit Body(asio::io_context& context) : timer(context) {}
  asio::steady_timer timer;
  u64 generation = 0;  // of the last set(): an older one that is already due must not act
};

Timer::Timer(Loop& loop) : body_(std::make_shared<Body>(loop.context())) {}
Timer::~Timer() { cancel(); }

void Timer::set(Ns delay, std::function<void()> act) {
  const u64 generation = ++body_->generation;
  body_->timer.expires_after(std::chrono::nanoseconds(delay));
  body_->timer.async_wait(
      [body = body_, generation, act = std::move(act)](const boost::system::error_code& error) {
        if (!error && generation == body->generation) act();
      });
}

void Timer::cancel() {
  ++body_->generation;
  body_->timer.cancel();
}

struct ProcessWatch::Body {
  Body(asio::io_context& context, int pidfd) : descriptor(context, pidfd) {}
  asio::posix::stream_descriptor descriptor;
};

ProcessWatch::ProcessWatch(std::shared_ptr<Body> body) : body_(std::move(body)) {}
ProcessWatch::~ProcessWatch() {
  boost::system::error_code ignored;
  body_->descriptor.close(ignored);
}

Result<std::unique_ptr<ProcessWatch>> ProcessWatch::open(Loop& loop, i64 pid, std::function<void()> ended) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
  if (fd < 0)
    return fail(errno == ESRCH ? Code::not_found : Code::io, "process {}: {}", pid, errno_text(errno));
  auto body = std::make_shared<Body>(loop.context(), fd);
  body->descriptor.async_wait(asio::posix::descriptor_base::wait_read,
                              [body, ended = std::move(ended)](const boost::system::error_code& error) {
                                if (!error && body->descriptor.is_open()) ended();
                              });
  return std::unique_ptr<ProcessWatch>(new ProcessWatch(std::move(body)));
}

}  // namespace spotter::net
