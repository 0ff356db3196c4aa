// For tests: a loop in steps, and sockets of the other side that never wait.
#pragma once
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstring>
#include <string>

#include "net/loop.h"

namespace spotter::net {

// False if it is not so within `patience`.
template <class F>
bool run_until(Loop& loop, F is_so, std::chrono::milliseconds patience = std::chrono::seconds(3)) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    loop.context().restart();
    loop.context().run_one_for(std::chrono::milliseconds(5));
  }
  return true;
}

// All that is due now.
inline void run_due(Loop& loop) {
  loop.context().restart();
  loop.context().poll();
}

inline std::string private_name(const char* what) {
  static int number = 0;
  return fmt::format("sp_{}_{}_{}", what, getpid(), number++);
}

// A stream client of a server on this machine.
class Client {
 public:
  static Client tcp(u16 port) {
    Client c(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    c.connect_tcp(port);
    return c;
  }
  static Client tcp6(u16 port) {
    Client c(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in6 to{};
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(port);
    to.sin6_addr = in6addr_loopback;
    c.connected_ = ::connect(c.fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    return c;
  }
  static Client unix(const std::string& path) {
    Client c(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::strncpy(to.sun_path, path.c_str(), sizeof to.sun_path - 1);
    c.connected_ = ::connect(c.fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    return c;
  }
  explicit Client(int fd) : fd_(fd) {}
  Client(Client&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        connected_(other.connected_),
        over_(other.over_),
        got_(other.got_) {}
  Client& operator=(Client&&) = delete;
  ~Client() { end(); }

  void connect_tcp(u16 port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  bool connected() const { return connected_; }
  int fd() const { return fd_; }
  void send(const std::string& bytes) const {
    ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  void end() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  // What has come so far.
  const std::string& got() {
    char buffer[4096];
    for (ssize_t n;
         !over_ && ((n = recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT)) >= 0 || errno != EAGAIN);) {
      over_ = n <= 0;
      if (n > 0) got_.append(buffer, static_cast<size_t>(n));
    }
    return got_;
  }
  // Whether the server has closed it.
  bool over() {
    got();
    return over_;
  }

 private:
  int fd_;
  bool connected_ = false, over_ = false;
  std::string got_;
};

inline size_t open_descriptors() {
  size_t n = 0;
  for (int fd = 0; fd < 4096; fd++) n += fcntl(fd, F_GETFD) >= 0;
  return n;
}

// At most so many descriptors while it lives; 0: as many as may be.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit now{most ? most : before_.rlim_max, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &now);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  // The descriptor that the next open() would get: as a limit it lets none be opened.
  static rlim_t next_descriptor() {
    const int fd = dup(0);
    close(fd);
    return static_cast<rlim_t>(fd);
  }

 private:
  rlimit before_{};
};

}  // namespace spotter::net
