#include "net/socket_owner.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <sstream>
#include <vector>

#include "base/system/file.h"
#include "base/text/utf8.h"

namespace spotter::net {
namespace {

constexpr size_t kMostText = size_t{64} << 20;

template <class F>
void for_each_line(const std::string& path, F f) {
  const Result<std::string> text = read_small_file(path, kMostText);
  if (!text) return;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) f(line);
}

bool has_socket(const std::string& process, const std::string& wanted) {
  const std::string folder = process + "/fd/";
  std::array<char, 64> target;
  for (const std::string& name : names_in(folder)) {
    const ssize_t n = readlink((folder + name).c_str(), target.data(), target.size());
    if (n > 0 && std::string_view(target.data(), static_cast<size_t>(n)) == wanted) return true;
  }
  return false;
}

// " by process 12 (name)" of the first of these sockets that a process has.
std::string owner_of(const std::vector<std::string>& inodes) {
  if (inodes.empty()) return {};
  for (const std::string& pid : names_in("/proc")) {
    if (pid.find_first_not_of("0123456789") != pid.npos) continue;
    const auto has = [&](const std::string& inode) {
      return has_socket("/proc/" + pid, "socket:[" + inode + "]");
    };
    if (std::none_of(inodes.begin(), inodes.end(), has)) continue;
    std::string name = read_small_file("/proc/" + pid + "/comm", 64).value_or("");
    name.erase(std::remove(name.begin(), name.end(), '\n'), name.end());
    return fmt::format(" by process {} ({})", pid, to_printable(name));
  }
  return " by a process that cannot be told (perhaps another user's, or in another namespace)";
}

// A netlink socket to the kernel's socket statistics, or -1.
int diagnostics() {
  static const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  return fd;
}

struct Request {
  nlmsghdr header;
  inet_diag_req_v2 body;
};

Request request_for(const TcpEnds& ends, bool as_v4) {
  static u32 number = 0;
  Request r{};
  r.header.nlmsg_seq = ++number;
  r.header.nlmsg_len = sizeof r;
  r.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  r.header.nlmsg_flags = NLM_F_REQUEST;
  r.body.sdiag_family = as_v4 ? AF_INET : AF_INET6;
  r.body.sdiag_protocol = IPPROTO_TCP;
  r.body.idiag_states = ~u32{0};
  r.body.id.idiag_sport = htons(ends.local_port);
  r.body.id.idiag_dport = htons(ends.remote_port);
  const size_t skip = as_v4 ? 12 : 0;  // of ::ffff:a.b.c.d
  std::memcpy(r.body.id.idiag_src, ends.local + skip, 16 - skip);
  std::memcpy(r.body.id.idiag_dst, ends.remote + skip, 16 - skip);
  r.body.id.idiag_cookie[0] = r.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return r;
}

std::optional<i64> ask(const Request& request) {
  const int fd = diagnostics();
  if (fd < 0 || send(fd, &request, sizeof request, 0) != ssize_t{sizeof request}) return std::nullopt;
  alignas(nlmsghdr) std::array<char, 4096> buffer;
  nlmsghdr header{};
  ssize_t n = 0;
  do {  // the kernel answers within send(); what is of another number was left over
    n = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n < ssize_t{sizeof header}) return std::nullopt;
    std::memcpy(&header, buffer.data(), sizeof header);
  } while (header.nlmsg_seq != request.header.nlmsg_seq);
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
      n < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(inet_diag_msg))))
    return std::nullopt;
  inet_diag_msg answer;
  std::memcpy(&answer, buffer.data() + NLMSG_HDRLEN, sizeof answer);
  // Where there is no such connection the kernel names who listens at that port; and of a socket that its
  // process has closed it says no inode and, if it is an older one, user 0.
  if (answer.id.idiag_dport != request.body.id.idiag_dport || answer.idiag_inode == 0) return std::nullopt;
  return answer.idiag_uid;
}

bool is_mapped(const u8 (&address)[16]) {
  static constexpr u8 prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(address, prefix, sizeof prefix) == 0;
}

}  // namespace

// Lines: "0000: 00000002 00000000 00010000 0001 01 21334 @name@".
std::string owner_of_unix(std::string_view name) {
  std::vector<std::string> inodes;  // a listener and its connections have one name
  for_each_line("/proc/net/unix", [&](const std::string& line) {
    std::istringstream words(line);
    std::string word, inode, path;
    for (int i = 0; i < 6; i++) words >> word;
    words >> inode >> std::ws;
    std::getline(words, path);
    if (path == name) inodes.push_back(inode);
  });
  return owner_of(inodes);
}

// Lines: "0: 0100007F:06F2 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 12345 ...", 0A for
// LISTEN.
std::string owner_of_port(u16 port) {
  const std::string wanted = fmt::format(":{:04X}", port);
  std::vector<std::string> inodes;
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    for_each_line(file, [&](const std::string& line) {
      std::istringstream words(line);
      std::string number, local, remote, state, word, inode;
      words >> number >> local >> remote >> state;
      for (int i = 0; i < 5; i++) words >> word;
      words >> inode;
      if (state == "0A" && local.ends_with(wanted)) inodes.push_back(inode);
    });
  }
  return owner_of(inodes);
}

i64 uid_of_connection(const TcpEnds& ends) {
  // A connection to 127.0.0.1 may be that of an IPv6 socket, with mapped addresses.
  if (is_mapped(ends.local)) {
    if (const auto uid = ask(request_for(ends, true))) return *uid;
  }
  return ask(request_for(ends, false)).value_or(-1);
}

}  // namespace spotter::net
