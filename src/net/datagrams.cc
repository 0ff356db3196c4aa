#include "net/datagrams.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/system/safe_folder.h"
#include "net/socket_owner.h"

namespace spotter::net {
namespace {

namespace asio = boost::asio;

constexpr int kMostAtOnce = 512;            // datagrams before the loop looks at its other sockets again
constexpr int kQueueBytes = 8 << 20;        // of unread ones; the kernel halves what is not allowed
constexpr mode_t kEverybodyMaySend = 0666;  // as libkineto's own sockets

struct Address {
  sockaddr_un un{};
  socklen_t length = 0;
};

// Empty if the name is too long.
Address address_of(const std::string& directory, std::string_view name) {
  Address a;
  a.un.sun_family = AF_UNIX;
  const std::string path =
      directory.empty() ? std::string(1, '\0') + std::string(name) : directory + "/" + std::string(name);
  // Both forms end in a NUL, which is part of an abstract name.
  if (path.size() + 1 > sizeof a.un.sun_path) return {};
  std::memcpy(a.un.sun_path, path.data(), path.size());
  a.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return a;
}

// The name behind the NUL or the directory; empty where it is none that an answer reaches.
std::string_view name_of(const sockaddr_un& un, socklen_t length, const std::string& directory) {
  if (length <= offsetof(sockaddr_un, sun_path)) return {};
  std::string_view path(un.sun_path, length - offsetof(sockaddr_un, sun_path));
  const std::string prefix = directory.empty() ? std::string(1, '\0') : directory + "/";
  if (!path.starts_with(prefix)) return {};
  path.remove_prefix(prefix.size());
  if (path.empty() || path.back() != '\0') return {};
  path.remove_suffix(1);
  return path.find_first_of(std::string_view("\0/", 2)) == path.npos ? path : std::string_view();
}

}  // namespace

struct Datagrams::Body : std::enable_shared_from_this<Datagrams::Body> {
  Body(Loop& loop, int fd) : descriptor(loop.context(), fd), buffer(kMaxDatagram) {}

  void wait() {
    descriptor.async_wait(asio::posix::descriptor_base::wait_read,
                          [self = shared_from_this()](const boost::system::error_code& error) {
                            if (error || !self->descriptor.is_open()) return;
                            self->drain();
                            if (self->descriptor.is_open()) self->wait();
                          });
  }

  void drain() {
    for (int i = 0; i < kMostAtOnce && receive_one(); i++) {
    }
  }

  // False where the queue is empty.
  bool receive_one() {
    sockaddr_un from{};
    // Room for the credentials alone: they come first, so descriptors that somebody sends are dropped by the
    // kernel.
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
    iovec part{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t n = recvmsg(descriptor.native_handle(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0) return errno != EAGAIN && errno != EWOULDBLOCK;  // any other error was of one datagram
    Datagram datagram;
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS) continue;
      ucred credentials;
      std::memcpy(&credentials, CMSG_DATA(c), sizeof credentials);
      datagram.pid = credentials.pid;
      datagram.uid = credentials.uid;
    }
    datagram.from = name_of(from, message.msg_namelen, directory);
    datagram.bytes = {buffer.data(), static_cast<size_t>(n)};
    datagram.cut = (message.msg_flags & MSG_TRUNC) != 0;
    receive(datagram);
    return descriptor.is_open();
  }

  asio::posix::stream_descriptor descriptor;
  std::vector<u8> buffer;
  std::string directory, path;  // path: of the file, empty in the abstract namespace
  std::function<void(const Datagram&)> receive;
};

Datagrams::Datagrams(std::shared_ptr<Body> body) : body_(std::move(body)) {}
Datagrams::~Datagrams() {
  // First the file: once nobody listens to it another one may put his there.
  if (!body_->path.empty()) unlink(body_->path.c_str());
  boost::system::error_code ignored;
  body_->descriptor.close(ignored);
}

Result<std::unique_ptr<Datagrams>> Datagrams::open(Loop& loop, const std::string& directory,
                                                   std::string_view name,
                                                   std::function<void(const Datagram&)> receive) {
  const std::string shown =
      directory.empty() ? fmt::format("@{}@", name) : fmt::format("{}/{}", directory, name);
  const Address address = address_of(directory, name);
  if (address.length == 0) return fail(Code::invalid, "the socket name {} is too long", shown);
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail(Code::io, "a UNIX socket: {}", errno_text(errno));
  auto body = std::make_shared<Body>(loop, fd);
  const auto* const raw = reinterpret_cast<const sockaddr*>(&address.un);
  Descriptor folder;
  if (!directory.empty()) {
    TRY_ASSIGN(folder, open_safe_folder(directory));
    // A socket file without a listener is left over from one that was killed.
    const bool listens = connect(fd, raw, address.length) == 0;
    if (listens) return fail(Code::io, "the socket {} is taken{}", shown, owner_of_unix(shown));
    const bool is_left_over = errno == ECONNREFUSED;
    struct stat file;
    if (lstat(address.un.sun_path, &file) == 0 && !S_ISSOCK(file.st_mode))
      return fail(Code::io, "{} is there already and is no socket", shown);
    if (is_left_over) unlink(address.un.sun_path);
  }
  if (bind(fd, raw, address.length) != 0) {
    if (errno == EADDRINUSE) return fail(Code::io, "the socket {} is taken{}", shown, owner_of_unix(shown));
    return fail(errno == EACCES ? Code::denied : Code::io, "the socket {}: {}", shown, errno_text(errno));
  }
  if (!directory.empty()) {
    body->path = address.un.sun_path;
    TRY(set_mode_of_socket(folder, std::string(name), kEverybodyMaySend));
  }
  const int on = 1;
  if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0)
    return fail(Code::io, "the socket {}: {}", shown, errno_text(errno));
  for (const int option : {SO_SNDBUFFORCE, SO_SNDBUF, SO_RCVBUF})
    setsockopt(fd, SOL_SOCKET, option, &kQueueBytes, sizeof kQueueBytes);
  body->directory = directory;
  body->receive = std::move(receive);
  body->wait();
  return std::unique_ptr<Datagrams>(new Datagrams(std::move(body)));
}

bool Datagrams::send(std::string_view to, std::string_view bytes) {
  const Address address = address_of(body_->directory, to);
  if (address.length == 0) return false;
  return sendto(body_->descriptor.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                reinterpret_cast<const sockaddr*>(&address.un),
                address.length) == static_cast<ssize_t>(bytes.size());
}

}  // namespace spotter::net
