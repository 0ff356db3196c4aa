// What tests of the agent's parts share.
#pragma once
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "agent/agent.h"
#include "kineto/message.h"
#include "net/testing.h"

namespace spotter::agent {

namespace fs = std::filesystem;

// An agent in a directory of its own, and this process as the one that polls it, by a made-up /proc.
class TestAgent {
 public:
  TestAgent() : root_(fs::path("/tmp") / fmt::format("sp_agent_{}", getpid())) {
    set_log_level(Level::error);
    const fs::path self = root_ / "proc" / std::to_string(getpid());
    fs::create_directories(self / "fd");
    fs::create_directory_symlink("/", self / "root");
    std::ofstream(self / "stat") << getpid() << " (python) S 1 1 1 0 -1 0 1 0 0 0 5 6 0 0 20 0 9 0 100 1 2 3";
    std::ofstream(self / "cmdline") << "python train\n.py";
    std::ofstream(self / "environ") << std::string("RANK=1\0WORLD_SIZE=2\0SLURM_JOB_ID=5\0", 35);
    options_.ipc_directory = root_.string();
    options_.output_directories = {root_.string()};
    restart();

    sockaddr_un own = address("client");
    CHECK(bind(fd_, reinterpret_cast<sockaddr*>(&own), sizeof own) == 0);
    const timeval patience{3, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  TestAgent(const TestAgent&) = delete;
  TestAgent& operator=(const TestAgent&) = delete;
  ~TestAgent() {
    close(fd_);
    agent_.reset();
    fs::remove_all(root_);
    set_log_level(Level::info);
  }

  // An agent with the options as they are now, in the place of the one before.
  void restart() {
    agent_.reset();
    agent_ = std::make_unique<Agent>(loop_, options_, Host{(root_ / "proc").string()});
    CHECK(agent_->listen());
    CHECK(agent_->measure());
  }
  sockaddr_un address(const char* name) const {
    sockaddr_un a{};
    a.sun_family = AF_UNIX;
    std::strcpy(a.sun_path, (root_ / name).c_str());
    return a;
  }
  void run() {
    loop_.context().restart();
    loop_.run();
  }
  // The agent's loop, and what `act` does beside it.
  template <class F>
  void beside(F act) {
    std::thread other([&] {
      act();
      loop_.post([this] { loop_.stop(); });
    });
    run();
    other.join();
  }
  void send(const std::string& datagram) const {
    sockaddr_un to = address("dynolog");
    CHECK(sendto(fd_, datagram.data(), datagram.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to) ==
          static_cast<ssize_t>(datagram.size()));
  }
  void poll() const { send(kineto::encode(kineto::Poll{2, 5, {}})); }
  // The answer to a registration, which comes when all that was sent before it has been read.
  std::string answer_to_registration() const {
    send(kineto::encode(kineto::Registration{0, getpid(), 5}));
    char buffer[4096];
    const ssize_t n = recv(fd_, buffer, sizeof buffer, 0);
    return n < 0 ? std::string() : std::string(buffer, static_cast<size_t>(n));
  }
  // Another process that has polled, of a user that the kernel has told.
  void add_process(i64 pid, i64 uid, const std::string& variable, const std::string& cgroup = "") {
    const fs::path folder = root_ / "proc" / std::to_string(pid);
    fs::create_directories(folder / "fd");
    fs::create_directory_symlink("/", folder / "root");
    std::ofstream(folder / "stat") << pid << " (python) S 1 1 1 0 -1 0 1 0 0 0 5 6 0 0 20 0 9 0 100 1 2 3";
    std::ofstream(folder / "environ") << variable << '\0';
    std::ofstream(folder / "cgroup") << cgroup;
    CHECK(agent_->registry.seen({pid, uid}, fmt::format("client{}", pid), {2, 5, {}}, loop_.now()));
  }
  Peer own() const { return agent_->access.local(geteuid(), "test"); }
  capture::Request request() const {
    capture::Request r;
    r.pids = {getpid()};
    r.output = root_.string();
    return r;
  }

  fs::path root_;
  AgentOptions options_;
  net::Loop loop_;
  std::unique_ptr<Agent> agent_;
  int fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

}  // namespace spotter::agent
