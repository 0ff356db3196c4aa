// For tests: a receiver of questions by HTTP.
#pragma once
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/system/descriptor.h"
#include "base/types.h"

namespace spotter::net {

// A receiver that answers what the test says, one connection after the other; the connection stays for as
// long as the answer does not say otherwise.
class Receiver {
 public:
  Receiver() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_.fd, reinterpret_cast<sockaddr*>(&a), sizeof a), 0);
    socklen_t length = sizeof a;
    getsockname(listener_.fd, reinterpret_cast<sockaddr*>(&a), &length);
    port_ = ntohs(a.sin_port);
    EXPECT_EQ(listen(listener_.fd, 8), 0);
    EXPECT_EQ(pipe2(end_, O_CLOEXEC), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~Receiver() {
    close(end_[1]);
    thread_.join();
    close(end_[0]);
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  u16 port() const { return port_; }
  // To each question from now on. Empty: none at all.
  void answer(std::string answer) {
    const std::lock_guard lock(mutex_);
    answers_ = {std::move(answer)};
  }
  // To one question after the other; the last one to all that follow.
  void answer_in_turn(std::vector<std::string> answers) {
    const std::lock_guard lock(mutex_);
    answers_ = std::move(answers);
  }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  int connections() {
    const std::lock_guard lock(mutex_);
    return connections_;
  }

 private:
  bool wait(int fd) {
    pollfd all[] = {{fd, POLLIN, 0}, {end_[0], POLLIN, 0}};
    while (poll(all, 2, -1) < 0) {
    }
    return all[1].revents == 0;
  }
  void serve() {
    while (wait(listener_.fd)) {
      const Descriptor connection(accept4(listener_.fd, nullptr, nullptr, SOCK_CLOEXEC));
      {
        const std::lock_guard lock(mutex_);
        ++connections_;
      }
      while (serve_one(connection.fd)) {
      }
    }
  }
  bool serve_one(int fd) {
    std::string got;
    char buffer[65536];
    while (true) {
      if (!wait(fd)) return false;
      const ssize_t n = read(fd, buffer, sizeof buffer);
      if (n <= 0) return false;
      got.append(buffer, static_cast<size_t>(n));
      const size_t head = got.find("\r\n\r\n"), length = got.find("Content-Length: ");
      if (head == got.npos) continue;
      if (got.size() >= head + 4 + static_cast<size_t>(std::stoi(got.substr(length + 16)))) break;
    }
    std::string answer;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(got);
      if (!answers_.empty()) answer = answers_.front();
      if (answers_.size() > 1) answers_.erase(answers_.begin());
    }
    if (answer.empty()) return wait(fd) && false;
    send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    return answer.find("Connection: close") == answer.npos;
  }

  Descriptor listener_;
  u16 port_ = 0;
  int end_[2] = {-1, -1};
  std::mutex mutex_;
  std::vector<std::string> answers_;
  std::vector<std::string> requests_;
  int connections_ = 0;
  std::thread thread_;
};

inline std::string http(const std::string& status, const std::string& body = "",
                        const std::string& headers = "") {
  return fmt::format("HTTP/1.1 {}\r\n{}Content-Length: {}\r\n\r\n{}", status, headers, body.size(), body);
}
inline std::string body_of(const std::string& message) {
  return message.substr(message.find("\r\n\r\n") + 4);
}

}  // namespace spotter::net
