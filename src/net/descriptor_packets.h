// Packets of text and open files between two processes of a host, by a connected UNIX socket of the kind
// SOCK_SEQPACKET. Calls wait.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/types.h"

namespace spotter::net {

constexpr size_t kMostDescriptors = 250;  // of a packet; the kernel's bound, SCM_MAX_FD, is 253
constexpr size_t kMostPacketBytes = 4096;

struct DescriptorPacket {
  std::string text;  // empty: the other side has closed the connection
  std::vector<Descriptor> descriptors;
};

// Errors: io; invalid (longer than a packet may be).
Result<Descriptor> connect_packets(const std::string& path);
Result<void> send_packet(int socket, std::string_view text, std::span<const int> descriptors = {});
Result<DescriptorPacket> receive_packet(int socket);

}  // namespace spotter::net
