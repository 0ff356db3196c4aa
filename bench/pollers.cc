#include "bench/pollers.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "base/time.h"
#include "kineto/config.h"
#include "kineto/message.h"

namespace spotter::bench {
namespace {

constexpr int kTries = 11, kLooks = 9;
constexpr Ns kFirstBackOff = 10 * kMillisecond, kBetweenLooks = 10 * kMillisecond;
constexpr int kBusyPolls = 1;
constexpr i32 kIdle = 3, kBusy = 1;  // a poll's type
constexpr Ns kPatience = 2 * kSecond;
constexpr Ns kEndPatience = 30 * kSecond;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  CHECK(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// The text of a request, or empty if this is none.
std::string_view config_of(std::string_view reply) {
  u64 size = 0;
  if (reply.size() <= kineto::kHeaderBytes) return {};
  std::memcpy(&size, reply.data(), sizeof size);
  reply.remove_prefix(kineto::kHeaderBytes);
  return size == reply.size() ? reply : std::string_view();
}

std::string setting(std::string_view config, std::string_view name) {
  const std::string line = "\n" + std::string(name) + "=";
  const std::string text = "\n" + std::string(config);
  const size_t at = text.find(line);
  if (at == text.npos) return {};
  const size_t begin = at + line.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

void write_file(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return;  // the agent's receipt tells
  if (write(fd, text.data(), text.size()) < 0) unlink(path.c_str());
  close(fd);
}

}  // namespace

Ns now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * kSecond + t.tv_nsec;
}

void sleep_until(Ns time) {
  const timespec t{time / kSecond, time % kSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
  }
}

bench::DatagramClient::DatagramClient(const std::string& directory) : directory_(directory) {
  static int number = 0;
  path_ = fmt::format("{}/dynoconfigclient{}-{}", directory, getpid(), number++);
  fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const sockaddr_un own = address_of(path_);
  const timeval patience{kPatience / kSecond, 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  // A length that counts the NUL, as libkineto's.
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_.size() + 1);
  CHECK(fd_ >= 0 && bind(fd_, reinterpret_cast<const sockaddr*>(&own), length) == 0);
}

bench::DatagramClient::~DatagramClient() {
  close(fd_);
  unlink(path_.c_str());
}

bool bench::DatagramClient::send(std::string_view bytes, bool wait) {
  const std::string daemon = fmt::format("{}/{}", directory_, kineto::kDaemonName);
  const sockaddr_un to = address_of(daemon);
  return sendto(fd_, bytes.data(), bytes.size(), wait ? 0 : MSG_DONTWAIT,
                reinterpret_cast<const sockaddr*>(&to),
                static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + daemon.size() + 1)) >= 0;
}

std::string bench::DatagramClient::receive(bool wait) {
  std::string bytes(size_t{64} << 10, '\0');
  const ssize_t n = recv(fd_, bytes.data(), bytes.size(), wait ? 0 : MSG_DONTWAIT);
  bytes.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return bytes;
}

bench::Spread spread_of(std::vector<Ns> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const auto at = [&](size_t percent) { return times[(times.size() - 1) * percent / 100]; };
  return {times.size(), at(50), at(99), times.back()};
}

Result<bench::Spread> probe(const std::string& directory, double seconds, Ns pause) {
  bench::DatagramClient client(directory);
  const std::string question = kineto::encode(kineto::Registration{0, static_cast<i32>(getpid()), getpid()});
  const std::string answer = kineto::encode_count(1);
  std::vector<Ns> times;
  const Ns end = bench::now_ns() + static_cast<Ns>(seconds * 1e9);
  for (Ns due = bench::now_ns(); due < end; due += pause) {
    const bool held_up = bench::now_ns() > due;
    if (!held_up) bench::sleep_until(due);
    const Ns start = held_up ? due : bench::now_ns();
    if (!client.send(question, true))
      return fail(Code::internal, "a probe cannot be sent: {}", errno_text(errno));
    const std::string got = client.receive(true);
    times.push_back(bench::now_ns() - start);
    if (got != answer)
      return fail(Code::internal, "a probe got {}", got.empty() ? "no answer in 2 s" : "a wrong answer");
  }
  return bench::spread_of(std::move(times));
}

struct bench::Herd::Board {
  std::atomic<i64> ready, begin, trigger;
  std::atomic<bool> stop;
};

namespace {

class Poller {
 public:
  Poller(const bench::Herd::Plan& plan, bench::PollCounts& counts, const std::atomic<i64>& trigger,
         const std::atomic<bool>& stop)
      : client_(plan.directory), plan_(plan), counts_(counts), trigger_(trigger), stop_(stop) {}

  void run() {
    for (Ns due = bench::now_ns(); !stop_; bench::sleep_until(due)) {
      const Ns start = bench::now_ns();
      due = start + plan_.period;
      ++counts_.polls;
      if (busy_ > 0 && --busy_ == 0) write_trace();
      const bool sent = send_poll();
      const Ns sent_at = bench::now_ns();
      counts_.sent += sent;
      counts_.in_time += sent && sent_at < due;
      if (sent) look_for_config(sent_at);
    }
  }

 private:
  bool send_poll() {
    const auto pid = static_cast<i32>(getpid());
    const std::string message = kineto::encode(kineto::Poll{busy_ > 0 ? kBusy : kIdle, 0, {pid, getppid()}});
    for (int i = 0; i < kTries && !(i > 0 && stop_); i++) {
      if (client_.send(message, false)) return true;
      if (errno != EAGAIN && errno != ECONNREFUSED) return false;
      ++counts_.retries;
      bench::sleep_until(bench::now_ns() + (kFirstBackOff << i));
    }
    return false;
  }

  void look_for_config(Ns sent_at) {
    // What counts is a poll that left after the request had been accepted.
    const i64 trigger = trigger_;
    const bool expected = trigger > 0 && sent_at > trigger && !asked_;
    for (int i = 0; i < kLooks; i++) {
      if (i > 0) bench::sleep_until(bench::now_ns() + kBetweenLooks);
      const std::string reply = client_.receive(false);
      if (!reply.empty()) return take(reply);
    }
    if (expected) ++missed_;
  }

  void take(const std::string& reply) {
    const std::string_view config = config_of(reply);
    const std::string file = setting(config, "ACTIVITIES_LOG_FILE"), id = setting(config, "REQUEST_TRACE_ID");
    if (file.empty() || asked_ || !id.ends_with(fmt::format("-{}", getpid()))) {
      ++counts_.wrong;
      return;
    }
    ++counts_.configs;
    counts_.late_configs += missed_ > 0;
    asked_ = true;
    busy_ = kBusyPolls + 1;
    path_ = kineto::output_path(file, getpid());
    write_file(path_ + ".tmp", "");
  }

  void write_trace() {
    write_file(path_ + ".tmp", R"({"traceEvents": [{"ph": "X", "name": "work", "ts": 1, "dur": 1}]})");
    rename((path_ + ".tmp").c_str(), path_.c_str());
  }

  bench::DatagramClient client_;
  const bench::Herd::Plan& plan_;
  bench::PollCounts& counts_;
  const std::atomic<i64>& trigger_;
  const std::atomic<bool>& stop_;
  bool asked_ = false;
  i64 missed_ = 0;
  int busy_ = 0;  // polls until the file is written
  std::string path_;
};

}  // namespace

bench::Herd::Herd(size_t processes) : shared_bytes_(sizeof(Board) + processes * sizeof(bench::PollCounts)) {
  void* shared = mmap(nullptr, shared_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  board_ = new (shared) Board{};
  counts_ = {reinterpret_cast<bench::PollCounts*>(board_ + 1), processes};
}

bench::Herd::~Herd() {
  for (const pid_t pid : pids_) kill(pid, SIGKILL);
  for (const pid_t pid : pids_) waitpid(pid, nullptr, 0);
  munmap(board_, shared_bytes_);
}

Result<std::unique_ptr<bench::Herd>> bench::Herd::start(const Plan& plan) {
  const auto n = static_cast<size_t>(plan.processes);
  std::unique_ptr<bench::Herd> herd(new bench::Herd(n));
  Board& board = *herd->board_;
  const pid_t parent = getpid();
  for (size_t i = 0; i < n; i++) {
    const pid_t pid = fork();
    if (pid < 0)
      return fail(Code::unsupported, "{} processes are all that this machine allows: {}", i,
                  errno_text(errno));
    if (pid > 0) {
      herd->pids_.push_back(pid);
      continue;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    Poller* poller = new Poller(plan, herd->counts_[i], board.trigger, board.stop);
    ++board.ready;
    while (board.begin == 0) bench::sleep_until(bench::now_ns() + 20 * kMillisecond);
    bench::sleep_until(board.begin + plan.spread * static_cast<i64>(i) / plan.processes);
    poller->run();
    delete poller;
    _exit(0);
  }
  while (board.ready < plan.processes) bench::sleep_until(bench::now_ns() + kMillisecond);
  board.begin = bench::now_ns() + 100 * kMillisecond;
  bench::sleep_until(board.begin);
  return herd;
}

void bench::Herd::triggered() { board_->trigger = bench::now_ns(); }

void bench::Herd::silence() {
  for (const pid_t pid : pids_) kill(pid, SIGSTOP);
}

Result<bench::PollCounts> bench::Herd::end() {
  board_->stop = true;
  for (const pid_t pid : pids_) kill(pid, SIGCONT);
  const Ns deadline = bench::now_ns() + kEndPatience;
  size_t failed = 0;
  while (!pids_.empty()) {
    int status = 0;
    const pid_t ended = waitpid(pids_.back(), &status, WNOHANG);
    if (ended == 0 && bench::now_ns() < deadline) {
      bench::sleep_until(bench::now_ns() + kMillisecond);
      continue;
    }
    if (ended == 0) return fail(Code::internal, "a simulated process does not end");
    failed += status != 0;
    pids_.pop_back();
  }
  if (failed > 0) return fail(Code::internal, "{} simulated processes failed", failed);
  bench::PollCounts sum;
  for (const bench::PollCounts& c : counts_) {
    sum.polls += c.polls;
    sum.in_time += c.in_time;
    sum.sent += c.sent;
    sum.retries += c.retries;
    sum.configs += c.configs;
    sum.late_configs += c.late_configs;
    sum.wrong += c.wrong;
  }
  return sum;
}

}  // namespace spotter::bench
