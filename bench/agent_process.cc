#include "bench/agent_process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/system/file.h"
#include "base/time.h"
#include "bench/pollers.h"
#include "kineto/message.h"

namespace spotter::bench {
namespace {

constexpr size_t kMostText = size_t{64} << 20;
constexpr Ns kStartPatience = 10 * kSecond, kEndPatience = 5 * kSecond;
constexpr int kBacklog = 1024;
constexpr std::string_view kQuestion = R"({"fn":"getStatus"})", kAnswer = R"({"status":1})";

i64 number_at(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  i64 value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The number behind a label.
i64 number_after(std::string_view text, std::string_view label) {
  const size_t at = text.find(label);
  return at == text.npos ? 0 : number_at(text.substr(at + label.size()));
}

sockaddr_in loopback(u16 port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// A listening socket on a port that was free.
int listen_anywhere(u16& port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  CHECK(bind(fd, raw, length) == 0 && listen(fd, kBacklog) == 0 && getsockname(fd, raw, &length) == 0);
  port = ntohs(address.sin_port);
  return fd;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// To the end of the connection, or so many bytes.
std::string read_all(int fd, size_t most = kMostText) {
  std::string text;
  std::array<char, size_t{16} << 10> part;
  while (text.size() < most) {
    const ssize_t n = recv(fd, part.data(), std::min(part.size(), most - text.size()), 0);
    if (n <= 0) break;
    text.append(part.data(), static_cast<size_t>(n));
  }
  return text;
}

std::string framed(std::string_view text) {
  const u32 n = static_cast<u32>(text.size());
  std::string out(sizeof n, '\0');
  std::memcpy(out.data(), &n, sizeof n);
  return out.append(text);
}

void give_patience(int fd) {
  const timeval patience{kEndPatience / kSecond, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

}  // namespace

pid_t fork_bound() {
  const pid_t parent = getpid(), pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
  }
  return pid;
}

bench::Child::~Child() {
  kill(pid_, SIGTERM);
  const Ns deadline = bench::now_ns() + kEndPatience;
  while (waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (bench::now_ns() > deadline) kill(pid_, SIGKILL);
    bench::sleep_until(bench::now_ns() + kMillisecond);
  }
}

bool bench::Child::runs() const { return waitpid(pid_, nullptr, WNOHANG) == 0; }

bench::Usage bench::Child::usage() const {
  bench::Usage used;
  clockid_t clock = 0;
  timespec time{};
  CHECK(clock_getcpuclockid(pid_, &clock) == 0 && clock_gettime(clock, &time) == 0);
  used.cpu = time.tv_sec * kSecond + time.tv_nsec;
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid_))) {
    const std::string schedule =
        read_small_file((task.path() / "schedstat").string(), kMostText).value_or("0 0 0");
    used.waiting += number_at(std::string_view(schedule).substr(schedule.find(' ')));
    used.wake_ups += number_after(read_small_file((task.path() / "status").string(), kMostText).value_or(""),
                                  "\nvoluntary_ctxt_switches:");
  }
  return used;
}

i64 bench::Child::kilobytes(std::string_view what) const {
  const std::string text = read_small_file(fmt::format("/proc/{}/status", pid_), kMostText).value_or("");
  return number_after(text, std::string(what) + ":");
}

bench::Folder::Folder() {
  // Short: a socket's path has 108 bytes. In memory, if there is room for that: a thousand clients that
  // create files on a disk in the same second keep the processors so busy that everybody waits for one, the
  // probes as well.
  std::string name = "/dev/shm/spotter-bench-XXXXXX";
  if (!mkdtemp(name.data())) {
    name = "/tmp/spotter-bench-XXXXXX";
    CHECK(mkdtemp(name.data()));
  }
  path_ = name;
}

bench::Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Result<std::unique_ptr<bench::AgentProcess>> bench::AgentProcess::start(const std::string& program,
                                                                        const std::string& config_text) {
  std::unique_ptr<bench::AgentProcess> agent(new bench::AgentProcess);
  bench::AgentProcess& a = *agent;
  close(listen_anywhere(a.rpc_port_));  // the agent gets this one
  const std::string folder = a.folder_.path(), api = folder + "/api.sock", port = std::to_string(a.rpc_port_);
  CHECK(mkdir((folder + "/out").c_str(), 0777) == 0);
  const std::string config = folder + "/agent.yaml";
  TRY(write_file_atomically(config, fmt::format("{}history: {}/history.db\noutput_directories: [{}]\n",
                                                config_text, folder, folder)));
  const pid_t pid = bench::fork_bound();
  if (pid == 0) {
    execl(program.c_str(), program.c_str(), "agent", "--config", config.c_str(), "--ipc-dir", folder.c_str(),
          "--api-socket", api.c_str(), "--rpc-port", port.c_str(), "--log-level", "warning", nullptr);
    std::perror(program.c_str());
    _exit(127);
  }
  a.child_ = std::make_unique<bench::Child>(pid);
  const Ns deadline = bench::now_ns() + kStartPatience;
  while (!a.http("GET", "/v1/status")) {
    if (!a.child_->runs() || bench::now_ns() > deadline)
      return fail(Code::internal, "{} does not start", program);
    bench::sleep_until(bench::now_ns() + kMillisecond);
  }
  return agent;
}

Result<std::string> bench::AgentProcess::http(const std::string& method, const std::string& target,
                                              const std::string& body) const {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, (folder_.path() + "/api.sock").c_str());
  give_patience(fd);
  std::string answer;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      write_all(fd, fmt::format(
                        "{} {} HTTP/1.1\r\nHost: agent\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                        method, target, body.size(), body)))
    answer = read_all(fd);
  close(fd);
  const size_t head = answer.find("\r\n\r\n");
  if (head == answer.npos || !answer.starts_with("HTTP/1.1 200 "))
    return fail(Code::internal, "{} {}: {}", method, target, answer.substr(0, 1000));
  return answer.substr(head + 4);
}

Result<std::string> bench::AgentProcess::capture_all() const {
  const std::string body = fmt::format(
      R"({{"all": true, "output": "{}/out", "duration_ms": 500, "warmup_ms": 0, "deadline_ms": 60000}})",
      folder_.path());
  TRY_ASSIGN(const std::string answer, http("POST", "/v1/captures", body));
  constexpr std::string_view label = "\"capture\":\"";
  const size_t at = answer.find(label);
  if (at == answer.npos)
    return fail(Code::internal, "an answer without a capture: {}", answer.substr(0, 1000));
  const size_t begin = at + label.size();
  return answer.substr(begin, answer.find('"', begin) - begin);
}

Result<i64> bench::AgentProcess::written(const std::string& capture) const {
  TRY_ASSIGN(const std::string answer, http("GET", "/v1/captures/" + capture));
  i64 count = 0;
  for (size_t at = answer.find("\"written\""); at != answer.npos; at = answer.find("\"written\"", at + 1))
    ++count;
  return count;
}

Result<i64> bench::AgentProcess::polls() const {
  TRY_ASSIGN(const std::string answer, http("GET", "/v1/status"));
  return number_after(answer, "/dynolog: ");
}

std::unique_ptr<bench::Child> bare_datagram_loop(const std::string& directory) {
  const std::string path = fmt::format("{}/{}", directory, kineto::kDaemonName);
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  CHECK(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  const pid_t pid = bench::fork_bound();
  if (pid > 0) {
    close(fd);
    return std::make_unique<bench::Child>(pid);
  }
  const std::string answer = kineto::encode_count(1);
  std::array<char, size_t{64} << 10> bytes;
  for (;;) {
    sockaddr_un from{};
    socklen_t length = sizeof from;
    const ssize_t n =
        recvfrom(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (n > 8 && bytes[8] == 'c')  // the tag `ctxt`
      sendto(fd, answer.data(), answer.size(), MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from), length);
  }
}

std::unique_ptr<bench::Child> bare_rpc_loop(u16& port) {
  const int listener = listen_anywhere(port);
  const pid_t pid = bench::fork_bound();
  if (pid > 0) {
    close(listener);
    return std::make_unique<bench::Child>(pid);
  }
  const std::string answer = framed(kAnswer);
  std::array<char, 1024> request;
  for (;;) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    if (recv(fd, request.data(), request.size(), 0) > 0) write_all(fd, answer);
    close(fd);
  }
}

Result<Ns> ask_rpc(u16 port, int count) {
  const std::string question = framed(kQuestion), answer = framed(kAnswer);
  const sockaddr_in address = loopback(port);
  const Ns start = bench::now_ns();
  for (int i = 0; i < count; i++) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::string got;
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        write_all(fd, question))
      got = read_all(fd, answer.size());
    const int error = errno;
    close(fd);
    if (got != answer) return fail(Code::internal, "RPC {} got no right answer ({})", i, errno_text(error));
  }
  return bench::now_ns() - start;
}

}  // namespace spotter::bench
