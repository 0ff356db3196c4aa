#include "bench/fleet_agents.h"

#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "bench/pollers.h"
#include "net/certificates.h"
#include "net/http/http.h"

namespace spotter::bench {
namespace {

constexpr int kNamesOfACertificate =
    100;  // a certificate of all names would be slower to read than agents' are

std::string address_of(int i) { return fmt::format("127.1.{}.{}", i / 200, 1 + i % 200); }

i64 unix_ms() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return i64{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

std::string receipt(bool is_over) {
  return fmt::format(
      R"({{"tables": [{{"name": "receipts", "columns": [{{"name": "host"}}, {{"name": "pid"}}, {{"name": "state"}}, )"
      R"({{"name": "took_ns"}}], "rows": [["simulated", 1, "{}", {}]]}}], "notes": [], "capture": "c", "revision": {}, )"
      R"("over": {}, "unix_ms": {}, "remaining_ms": 60000}})",
      is_over ? "written" : "accepted", is_over ? "1" : "null", is_over ? 1 : 0, is_over, unix_ms());
}

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// Listens, and never accepts; 0 if it cannot.
u16 deaf_port(int& fd) {
  fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in a{};
  a.sin_family = AF_INET;
  socklen_t length = sizeof a;
  if (bind(fd, reinterpret_cast<sockaddr*>(&a), sizeof a) != 0 || listen(fd, 1000) != 0) return 0;
  getsockname(fd, reinterpret_cast<sockaddr*>(&a), &length);
  return ntohs(a.sin_port);
}

}  // namespace

struct bench::FleetAgents::Shared {
  std::atomic<int> asked = 0;
  std::atomic<Ns> last_asked = 0;
  std::atomic<bool> is_ready = false;
};

bench::FleetAgents::~FleetAgents() {
  child_.reset();
  if (shared_) munmap(shared_, sizeof(Shared));
}
int bench::FleetAgents::asked() const { return shared_->asked; }
Ns bench::FleetAgents::last_asked() const { return shared_->last_asked; }

// In a process of its own; returns only if it cannot.
Result<void> bench::FleetAgents::serve(const bench::FleetShape& shape) const {
  const std::string& folder = folder_.path();
  TRY_ASSIGN(const net::Certificate authority, net::make_authority("bench"));
  std::filesystem::create_directory(credentials());
  put(credentials() + "/ca.pem", authority.certificate);
  put(credentials() + "/token", "bench");

  net::Loop loop;
  net::allow_many_descriptors();
  std::vector<std::function<void()>> waiting;
  net::Timer written(loop);
  bool is_written = false;
  const auto answer = [&](const net::HttpRequest& request, const net::HttpServer::Respond& respond) {
    const auto over = [respond] { respond({200, receipt(true)}); };
    if (request.method == "GET" && is_written) return over();
    if (request.method == "GET") return waiting.push_back(over);
    if (shared_->asked++ == 0)
      written.set(shape.write_time, [&] {
        is_written = true;
        for (const auto& act : std::exchange(waiting, {})) act();
      });
    shared_->last_asked = bench::now_ns();
    respond({200, receipt(false)});
  };
  std::vector<std::unique_ptr<net::HttpServer>> servers;
  std::ofstream hosts(hostfile());
  const int alive = shape.count - shape.dead - shape.stuck;
  for (int i = 0; i < alive;) {
    std::vector<std::string> names;
    for (; i < alive && static_cast<int>(names.size()) < kNamesOfACertificate; ++i)
      names.push_back(address_of(i));
    TRY_ASSIGN(const net::Certificate server, net::issue(authority, {"agent", names, true}));
    put(folder + "/agent.pem", server.certificate);
    put(folder + "/agent-key.pem", server.key);
    TRY_ASSIGN(std::shared_ptr<net::Tls> tls,
               net::Tls::server({folder + "/agent.pem", folder + "/agent-key.pem", {}}));
    TRY_ASSIGN(auto opened,
               net::HttpServer::open(
                   loop, "0.0.0.0", 0, std::move(tls), answer,
                   [](const Error&) { return net::HttpAnswer{400, {}}; }, static_cast<size_t>(shape.count)));
    for (const std::string& name : names) hosts << name << ':' << opened->port() << '\n';
    servers.push_back(std::move(opened));
  }
  int deaf = -1, gone = -1;
  const u16 deaf_at = deaf_port(deaf), gone_at = deaf_port(gone);
  close(gone);  // nobody has that port now
  for (int i = 0; i < shape.stuck; ++i) hosts << address_of(alive + i) << ':' << deaf_at << '\n';
  for (int i = 0; i < shape.dead; ++i) hosts << address_of(alive + shape.stuck + i) << ':' << gone_at << '\n';
  hosts.close();
  if (!hosts || deaf_at == 0) return fail(Code::io, "the agents' addresses: {}", errno_text(errno));
  shared_->is_ready = true;
  loop.run();
  return {};
}

Result<std::unique_ptr<bench::FleetAgents>> bench::FleetAgents::start(const bench::FleetShape& shape) {
  std::unique_ptr<bench::FleetAgents> agents(new bench::FleetAgents);
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return fail(Code::io, "mmap: {}", errno_text(errno));
  agents->shared_ = new (memory) Shared;
  const pid_t pid = bench::fork_bound();
  if (pid == 0) {
    if (const auto served = agents->serve(shape); !served)
      fmt::print(stderr, "fleet agents: {}\n", served.error().message);
    _exit(1);
  }
  agents->child_ = std::make_unique<bench::Child>(pid);
  while (!agents->shared_->is_ready) {
    if (!agents->child_->runs()) return fail(Code::internal, "the simulated agents do not start");
    bench::sleep_until(bench::now_ns() + 1'000'000);
  }
  return agents;
}

}  // namespace spotter::bench
