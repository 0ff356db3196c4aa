#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "agent/helper.h"
#include "base/text/words.h"
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

// To a helper of root's.
Result<Descriptor> connect_helper(const std::string& socket) {
  TRY_ASSIGN(Descriptor connection, net::connect_packets(socket));
  TRY(check_that_root_listens(connection.fd, socket));
  return connection;
}

Error refusal(std::string_view text, const std::string& socket) {
  constexpr std::string_view failed = "failed ";
  if (text.starts_with(failed))
    return {Code::denied, fmt::format("the helper: {}", text.substr(failed.size()))};
  return {Code::io, fmt::format("the helper at {} ended without an answer", socket)};
}

}  // namespace

Result<Descriptor> ask_for_probe(const std::string& socket, i64 thread, const collect::TorchStep& step) {
  constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};
  TRY_ASSIGN(const Descriptor connection, connect_helper(socket));
  setsockopt(connection.fd, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  TRY(net::send_packet(connection.fd, fmt::format("probe {}", thread), std::span(&step.library.fd, 1)));
  TRY_ASSIGN(net::DescriptorPacket answer, net::receive_packet(connection.fd));
  if (answer.text == "probe" && answer.descriptors.size() == 1) return std::move(answer.descriptors[0]);
  return tl::unexpected(refusal(answer.text, socket));
}

Result<int> ask_helper(const std::string& socket, u32 uid, std::span<const std::string> names) {
  TRY_ASSIGN(const Descriptor connection, connect_helper(socket));
  TRY_ASSIGN(const Descriptor names_file, file_of(names));
  std::vector<int> files = {names_file.fd};
  for (int fd = 0; fd < net::Child::kFirstFile + static_cast<int>(names.size()); ++fd) files.push_back(fd);
  const std::string order = fmt::format("analyze {} {}", uid, files.size());
  for (size_t at = 0; at < files.size(); at += net::kMostDescriptors)
    TRY(net::send_packet(connection.fd, at == 0 ? order : "more",
                         std::span(files).subspan(at, std::min(net::kMostDescriptors, files.size() - at))));
  TRY_ASSIGN(const net::DescriptorPacket answer, net::receive_packet(connection.fd));
  constexpr std::string_view ended = "ended ";
  if (answer.text.starts_with(ended)) {
    if (const auto status = to_integer(std::string_view(answer.text).substr(ended.size())))
      return static_cast<int>(*status);
  }
  return tl::unexpected(refusal(answer.text, socket));
}

}  // namespace spotter::agent
