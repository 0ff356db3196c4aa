#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "agent/helper.h"
#include "base/words.h"
#include "net/child.h"
#include "net/descriptor_packets.h"

namespace spotter::agent {
namespace {

// Whoever listens gets the files.
Result<void> check_that_root_listens(int connection, const std::string& socket) {
  ucred listener{};
  socklen_t length = sizeof listener;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &listener, &length) != 0)
    return fail(Code::io, "{}: {}", socket, errno_text(errno));
  if (listener.uid == 0) return {};
  return fail(Code::denied, "user {} listens at {}, who is not root", listener.uid, socket);
}

Result<Descriptor> file_of(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) text.append(name).push_back('\0');
  Descriptor file(memfd_create("names", MFD_CLOEXEC));
  if (file.fd < 0 || write(file.fd, text.data(), text.size()) != std::ssize(text))
    return fail(Code::io, "a file in memory cannot be written: {}", errno_text(errno));
  return file;
}

}  // namespace

Result<int> ask_helper(const std::string& socket, u32 uid, std::span<const std::string> names) {
  TRY_ASSIGN(const Descriptor connection, net::connect_packets(socket));
  TRY(check_that_root_listens(connection.fd, socket));
  TRY_ASSIGN(const Descriptor names_file, file_of(names));
  std::vector<int> files = {names_file.fd};
  for (int fd = 0; fd < net::Child::kFirstFile + static_cast<int>(names.size()); ++fd) files.push_back(fd);
  const std::string order = fmt::format("analyze {} {}", uid, files.size());
  for (size_t at = 0; at < files.size(); at += net::kMostDescriptors)
    TRY(net::send_packet(connection.fd, at == 0 ? order : "more",
                         std::span(files).subspan(at, std::min(net::kMostDescriptors, files.size() - at))));
  TRY_ASSIGN(const net::DescriptorPacket answer, net::receive_packet(connection.fd));
  constexpr std::string_view ended = "ended ", failed = "failed ";
  if (answer.text.starts_with(ended)) {
    if (const auto status = to_integer(std::string_view(answer.text).substr(ended.size())))
      return static_cast<int>(*status);
  }
  if (answer.text.starts_with(failed))
    return fail(Code::denied, "the helper: {}", answer.text.substr(failed.size()));
  return fail(Code::io, "the helper at {} ended without an answer", socket);
}

}  // namespace spotter::agent
