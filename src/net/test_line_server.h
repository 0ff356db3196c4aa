// For tests: a program of this machine that is spoken to in lines, one connection after another, on a thread
// of its own.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "base/types.h"

namespace spotter::net {

class LineServer {
 public:
  struct Said {
    std::string text;
    bool closes = false;
  };
  explicit LineServer(std::function<Said(const std::string& line)> answer) : answer_(std::move(answer)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at);
    listen(listener_, 8);
    socklen_t length = sizeof at;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &length);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~LineServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  LineServer(const LineServer&) = delete;
  LineServer& operator=(const LineServer&) = delete;
  u16 port() const { return port_; }

 private:
  void serve() const {
    for (int peer; (peer = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; close(peer)) {
      std::string line;
      char c = 0;
      for (bool goes_on = true; goes_on && recv(peer, &c, 1, 0) == 1;) {
        if (c != '\n') {
          line += c;
          continue;
        }
        const Said said = answer_(line);
        line.clear();
        for (size_t sent = 0; sent < said.text.size();) {
          const ssize_t n = send(peer, said.text.data() + sent, said.text.size() - sent, MSG_NOSIGNAL);
          if (n <= 0) break;
          sent += static_cast<size_t>(n);
        }
        goes_on = !said.closes;
      }
    }
  }

  std::function<Said(const std::string& line)> answer_;
  int listener_ = -1;
  u16 port_ = 0;
  std::thread thread_;
};

}  // namespace spotter::net
