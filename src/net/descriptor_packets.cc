#include "net/descriptor_packets.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text/utf8.h"

namespace spotter::net {
namespace {

constexpr int kTries = 200;
constexpr useconds_t kPause = 10'000;  // us

}  // namespace

Result<Descriptor> connect_packets(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(Code::invalid, "{} is too long for a socket's path", to_printable(path));
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (connection.fd < 0) return fail(Code::io, "no socket can be made: {}", errno_text(errno));
  if (connect(connection.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(Code::io, "nobody answers at {}: {}", to_printable(path), errno_text(errno));
  return connection;
}

Result<void> send_packet(int socket, std::string_view text, std::span<const int> descriptors) {
  CHECK(!text.empty() && text.size() <= kMostPacketBytes && descriptors.size() <= kMostDescriptors);
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostDescriptors)] = {};
  if (!descriptors.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  for (int tries = kTries;; --tries) {
    if (sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return {};
    // Others of this user have as many files on their way, which are taken soon (unix(7)).
    const bool is_full = errno == ETOOMANYREFS && tries > 0;
    if (is_full) usleep(kPause);
    if (!is_full && errno != EINTR) return fail(Code::io, "a packet cannot be sent: {}", errno_text(errno));
  }
}

Result<DescriptorPacket> receive_packet(int socket) {
  DescriptorPacket packet;
  packet.text.resize(kMostPacketBytes);
  iovec part{packet.text.data(), packet.text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostDescriptors)];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n;
  do n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n < 0) return fail(Code::io, "no packet can be received: {}", errno_text(errno));
  packet.text.resize(static_cast<size_t>(n));
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
      packet.descriptors.emplace_back(fd);
    }
  }
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return fail(Code::invalid, "a packet has more than {} bytes or {} files, or there is no room for them",
                kMostPacketBytes, kMostDescriptors);
  return packet;
}

}  // namespace spotter::net
