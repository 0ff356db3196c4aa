#include "net/socket_owner.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "net/testing.h"

namespace spotter::net {
namespace {

sockaddr_in6 end_of(int fd, int (*which)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage any{};
  socklen_t length = sizeof any;
  which(fd, reinterpret_cast<sockaddr*>(&any), &length);
  sockaddr_in6 v6{};
  if (any.ss_family == AF_INET6) {
    std::memcpy(&v6, &any, sizeof v6);
    return v6;
  }
  sockaddr_in v4;
  std::memcpy(&v4, &any, sizeof v4);
  v6.sin6_port = v4.sin_port;
  v6.sin6_addr.s6_addr[10] = v6.sin6_addr.s6_addr[11] = 0xff;
  std::memcpy(v6.sin6_addr.s6_addr + 12, &v4.sin_addr, 4);
  return v6;
}

TcpEnds ends_of(const sockaddr_in6& local, const sockaddr_in6& remote) {
  TcpEnds ends{};
  std::memcpy(ends.local, &local.sin6_addr, 16);
  std::memcpy(ends.remote, &remote.sin6_addr, 16);
  ends.local_port = ntohs(local.sin6_port);
  ends.remote_port = ntohs(remote.sin6_port);
  return ends;
}

// Whose the other end of this connection is.
i64 uid_behind(int fd) {
  return uid_of_connection(ends_of(end_of(fd, getpeername), end_of(fd, getsockname)));
}

// A listening socket, on any free port of the loopback address.
struct Listener {
  explicit Listener(int family = AF_INET) : fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_addr = in6addr_loopback;
    const bool is_v4 = family == AF_INET;
    bound = bind(fd, is_v4 ? reinterpret_cast<sockaddr*>(&v4) : reinterpret_cast<sockaddr*>(&v6),
                 is_v4 ? sizeof v4 : sizeof v6) == 0 &&
            listen(fd, 8) == 0;
    port = ntohs(end_of(fd, getsockname).sin6_port);
  }
  ~Listener() { close(fd); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  Client accept() const { return Client(::accept(fd, nullptr, nullptr)); }

  int fd;
  bool bound;
  u16 port;
};

TEST(SocketOwnerTest, UserBehindAConnection) {
  const Listener v4, v6(AF_INET6);
  const Client client = Client::tcp(v4.port);
  EXPECT_EQ(uid_behind(v4.accept().fd()), geteuid());
  if (!v6.bound) GTEST_SKIP() << "no IPv6 here";
  const Client client6 = Client::tcp6(v6.port);
  EXPECT_EQ(uid_behind(v6.accept().fd()), geteuid());
}

TEST(SocketOwnerTest, AnIPv6SocketOnAnIPv4Address) {
  const Listener listener;
  const Client client(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(listener.port);
  inet_pton(AF_INET6, "::ffff:127.0.0.1", &to.sin6_addr);
  if (connect(client.fd(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) GTEST_SKIP() << "no IPv6 here";
  EXPECT_EQ(uid_behind(listener.accept().fd()), geteuid());
}

// Of a closed socket older kernels say that it is root's.
TEST(SocketOwnerTest, AConnectionThatItsProcessHasClosed) {
  const Listener listener;
  for (const bool reset : {false, true}) {
    Client client = Client::tcp(listener.port);
    const Client server = listener.accept();
    const TcpEnds ends = ends_of(end_of(server.fd(), getpeername), end_of(server.fd(), getsockname));
    client.send("request");
    const linger at_once{reset, 0};
    setsockopt(client.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    client.end();
    EXPECT_EQ(uid_of_connection(ends), -1) << reset;
  }
}

TEST(SocketOwnerTest, AListenerIsNoConnection) {
  const Listener listener;
  TcpEnds ends{};
  ends.local[10] = ends.local[11] = ends.remote[10] = ends.remote[11] = 0xff;
  ends.local[12] = ends.remote[12] = 127;
  ends.local[15] = ends.remote[15] = 1;
  ends.local_port = listener.port;
  ends.remote_port = 1;
  EXPECT_EQ(uid_of_connection(ends), -1);
  EXPECT_EQ(uid_of_connection({}), -1);
}

TEST(SocketOwnerTest, AnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root becomes another user";
  for (const bool leaves : {false, true}) {
    const Listener listener;
    const pid_t child = fork();
    if (child == 0) {
      if (setuid(12345) != 0) _exit(1);
      const Client client = Client::tcp(listener.port);
      char byte;
      _exit(leaves || recv(client.fd(), &byte, 1, 0) == 1 ? 0 : 1);
    }
    const Client server = listener.accept();
    int status = 1;
    if (leaves) waitpid(child, &status, 0);
    EXPECT_EQ(uid_behind(server.fd()), leaves ? -1 : 12345);
    server.send("x");
    if (!leaves) waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST(SocketOwnerTest, WhoListens) {
  const Listener listener;
  const std::string us = fmt::format(" by process {} (", getpid());
  EXPECT_TRUE(owner_of_port(listener.port).starts_with(us)) << owner_of_port(listener.port);
  const Client client = Client::tcp(listener.port);
  EXPECT_EQ(owner_of_port(ntohs(end_of(client.fd(), getsockname).sin6_port)), "");

  for (const std::string& name : {private_name("owner"), private_name("own er")}) {
    const Client unix(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un a{};
    a.sun_family = AF_UNIX;
    std::strcpy(a.sun_path + 1, name.c_str());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    ASSERT_EQ(bind(unix.fd(), reinterpret_cast<sockaddr*>(&a), length), 0);
    EXPECT_TRUE(owner_of_unix("@" + name).starts_with(us)) << owner_of_unix("@" + name);
  }
  EXPECT_EQ(owner_of_unix("@nobody has this"), "");
}

}  // namespace
}  // namespace spotter::net
