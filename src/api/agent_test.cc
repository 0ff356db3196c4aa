#include "api/agent.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "api/tables.h"
#include "kineto/message.h"

namespace spotter::api {
namespace {

namespace fs = std::filesystem;

// An agent in a directory of its own, and this process as the one that polls it, by a made-up /proc.
class AgentTest : public testing::Test {
 protected:
  AgentTest() : root_(fs::path("/tmp") / fmt::format("sp_agent_{}", getpid())) {
    set_log_level(Level::error);
    const fs::path self = root_ / "proc" / std::to_string(getpid());
    fs::create_directories(self / "fd");
    fs::create_directory_symlink("/", self / "root");
    std::ofstream(self / "stat") << getpid() << " (python) S 1 1 1 0 -1 0 1 0 0 0 5 6 0 0 20 0 9 0 100 1 2 3";
    std::ofstream(self / "cmdline") << "python train\n.py";
    std::ofstream(self / "environ") << std::string("RANK=1\0WORLD_SIZE=2\0SLURM_JOB_ID=5\0", 35);
    AgentOptions options;
    options.ipc_directory = root_.string();
    options.api_socket = (root_ / "api").string();
    options.rpc_port = 0;
    options.output_directories = {root_.string()};
    auto opened = Agent::open(loop_, options, Host{(root_ / "proc").string()});
    EXPECT_TRUE(opened) << opened.error().message;
    if (opened) agent_ = std::move(*opened);

    sockaddr_un own = address("client");
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
    const timeval patience{3, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~AgentTest() override {
    close(fd_);
    agent_.reset();
    fs::remove_all(root_);
    set_log_level(Level::info);
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
    EXPECT_EQ(sendto(fd_, datagram.data(), datagram.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to),
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
  Peer own() const { return agent_->access().local(geteuid(), "test"); }
  capture::Request request() const {
    capture::Request r;
    r.pids = {getpid()};
    r.output = root_.string();
    return r;
  }

  fs::path root_;
  net::Loop loop_;
  std::unique_ptr<Agent> agent_;
  int fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

TEST_F(AgentTest, WhoMayTraceMayPauseProfiling) {
  const collect::ProfilingPause& pause = agent_->telemetry().profiling_pause();
  const auto is_on = [&] { return pause.is_on(agent_->now().steady); };
  const Peer nobody = agent_->access().local(-1, "test");
  EXPECT_EQ(agent_->pause_profiling(nobody, 60'000'000'000).error().code, Code::denied);
  EXPECT_FALSE(is_on());
  EXPECT_TRUE(agent_->pause_profiling(own(), 60'000'000'000));
  EXPECT_TRUE(is_on());
  EXPECT_FALSE(agent_->pause_profiling(nobody, 0));
  EXPECT_TRUE(is_on());
  EXPECT_TRUE(agent_->pause_profiling(own(), 0));
  EXPECT_FALSE(is_on());
}

TEST_F(AgentTest, WhoPollsIsInTheTables) {
  beside([&] {
    send("nonsense");
    poll();
    EXPECT_EQ(answer_to_registration(), kineto::encode_count(1));
  });
  const Table table = processes_table(*agent_);
  ASSERT_EQ(table.rows(), 1u);
  const auto cell = [&](const char* name) { return table.at(0, table.column(name)); };
  EXPECT_EQ(cell("pid"), Value(i64{getpid()}));
  EXPECT_EQ(cell("uid"), Value(i64{geteuid()}));
  EXPECT_EQ(cell("role"), Value("rank"));
  EXPECT_EQ(cell("rank"), Value(i64{1}));
  EXPECT_EQ(cell("world_size"), Value(i64{2}));
  EXPECT_EQ(cell("job"), Value("5"));
  EXPECT_EQ(cell("state"), Value("idle"));
  EXPECT_EQ(cell("polls"), Value(i64{1}));
  EXPECT_TRUE(is_null(cell("torch")));
  EXPECT_EQ(std::get<std::string_view>(cell("command")).find('\n'), std::string_view::npos);

  const Table status = status_table(*agent_);
  ASSERT_EQ(status.rows(), 8u);
  EXPECT_NE(status.text(1, 3).find("1 polls, 0 requests sent, 0 sends failed, 1 bad datagrams"),
            std::string_view::npos)
      << status.text(1, 3);
}

TEST_F(AgentTest, ARequestGoesOutWithTheNextPoll) {
  beside([&] {
    poll();
    answer_to_registration();
  });
  const auto id = agent_->begin_capture(own(), request(), "test");
  ASSERT_TRUE(id) << id.error().message;
  EXPECT_EQ(processes_table(*agent_).text(0, processes_table(*agent_).column("state")), "requested");
  EXPECT_EQ(agent_->begin_capture(own(), request(), "test").error().code, Code::busy);
  std::string got(4096, '\0');
  beside([&] {
    poll();
    recv(fd_, got.data(), got.size(), 0);
    poll();  // the second one gets nothing
    EXPECT_EQ(answer_to_registration(), kineto::encode_count(1));
  });
  EXPECT_NE(got.find("REQUEST_TRACE_ID=" + *id), std::string::npos);
  EXPECT_EQ(agent_->counters().requests_sent, 1);
}

TEST_F(AgentTest, WhoMayNot) {
  beside([&] {
    poll();
    answer_to_registration();
  });
  EXPECT_EQ(agent_->begin_capture(agent_->access().local(12345, "test"), request(), "test").error().code,
            Code::denied);
  capture::Request elsewhere = request();
  elsewhere.output = "/var";
  EXPECT_EQ(agent_->begin_capture(own(), elsewhere, "test").error().code, Code::denied);
  elsewhere.output.clear();  // then it is written to /tmp
  EXPECT_EQ(agent_->begin_capture(own(), elsewhere, "test").error().code, Code::denied);
}

TEST_F(AgentTest, WhoMayEndACapture) {
  beside([&] {
    poll();
    answer_to_registration();
  });
  const auto id = agent_->begin_capture(own(), request(), "test");
  ASSERT_TRUE(id);
  const Peer other{AccessRole::trace, {}, false, "client other", "test"};
  EXPECT_EQ(agent_->end_capture(other, *id).error().code, Code::denied);
  EXPECT_EQ(agent_->end_capture(own(), "none").error().code, Code::not_found);
  EXPECT_FALSE(agent_->captures().find(*id)->over());
  EXPECT_TRUE(agent_->end_capture(own(), *id));
  EXPECT_TRUE(agent_->captures().find(*id)->over());
  EXPECT_NE(agent_->captures().find(*id)->receipts[0].reason.find("before the process had asked"),
            std::string::npos);
  EXPECT_TRUE(agent_->begin_capture(own(), request(), "test"));  // it is free again
}

TEST_F(AgentTest, AProcessThatHasPolledAndEnded) {
  const pid_t child = fork();
  if (child == 0) {
    poll();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  // /proc may still tell of it when its poll is read; the watch then finds that it is gone.
  fs::copy(root_ / "proc" / std::to_string(getpid()), root_ / "proc" / std::to_string(child));
  beside([&] { answer_to_registration(); });
  EXPECT_EQ(agent_->counters().polls, 1);
  EXPECT_TRUE(agent_->registry().all().empty());
}

TEST_F(AgentTest, GoesWithRequestsWaiting) {
  beside([&] {
    poll();
    answer_to_registration();
  });
  const auto id = agent_->begin_capture(own(), request(), "test");
  ASSERT_TRUE(id);
  bool told = false;
  agent_->when_changed(*id, 0, 60'000'000'000, [&] { told = true; });
  agent_->when_changed(*id, 0, 1'000'000, [this] { loop_.stop(); });
  run();
  agent_.reset();
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace spotter::api
