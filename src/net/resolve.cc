#include "net/resolve.h"

#include <netdb.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace spotter::net {
namespace {

using boost::asio::ip::tcp;

constexpr size_t kMostThreads = 32;

Result<Endpoints> look_up(const std::string& host, u16 port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  if (const int error = getaddrinfo(host.c_str(), nullptr, &hints, &list); error != 0)
    return fail(Code::not_found, "there is no address of {}: {}", host,
                error == EAI_SYSTEM ? errno_text(errno) : gai_strerror(error));
  Endpoints endpoints;
  for (const addrinfo* a = list; a; a = a->ai_next) {
    tcp::endpoint endpoint;
    if (a->ai_addrlen > endpoint.capacity()) continue;
    endpoint.resize(a->ai_addrlen);
    std::memcpy(endpoint.data(), a->ai_addr, a->ai_addrlen);
    endpoint.port(port);
    endpoints.push_back(endpoint);
  }
  freeaddrinfo(list);
  return endpoints;
}

// Work for threads that come when there is some and go when there is none. Nobody waits for them: one may
// hang in getaddrinfo() for as long as the system's resolver likes, also past the end of main().
class Lookups {
 public:
  void add(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    if (threads_ >= kMostThreads) return;
    try {
      std::thread([this] { work_off(); }).detach();
      ++threads_;
    } catch (const std::system_error&) {
      // No thread more may be had. One that is there does it, else the next one that can be.
    }
  }

 private:
  void work_off() {
    for (std::unique_lock lock(mutex_);;) {
      if (waiting_.empty()) {
        --threads_;
        return;
      }
      const std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::deque<std::function<void()>> waiting_;
  size_t threads_ = 0;
};

Lookups& lookups() {
  static auto* forever = new Lookups;  // the threads outlive everything
  return *forever;
}

}  // namespace

bool is_link_local(const boost::asio::ip::address& address) {
  namespace ip = boost::asio::ip;
  constexpr u32 kLink = 0xA9FE0000, kLinkMask = 0xFFFF0000;
  if (address.is_v4()) return (address.to_v4().to_uint() & kLinkMask) == kLink;
  const ip::address_v6 v6 = address.to_v6();
  if (v6.is_v4_mapped()) return is_link_local(ip::make_address_v4(ip::v4_mapped, v6));
  static const ip::address_v6 metadata = ip::make_address_v6("fd00:ec2::254");
  return v6.is_link_local() || v6 == metadata;
}

void resolve(Loop& loop, const std::string& host, u16 port, std::function<void(Result<Endpoints>)> done) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  if (!error) return loop.post([=] { done(Endpoints{{address, port}}); });
  lookups().add([post = loop.poster(), host, port, done = std::move(done)] {
    post([endpoints = look_up(host, port), done] { done(endpoints); });
  });
}

}  // namespace spotter::net
