#include "collect/network/ethtool.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace spotter::collect {
namespace {

constexpr size_t kMost = 65536;  // counters; a driver with 256 queues has some 10,000

// The kernel writes as many entries as the driver has when it answers, whatever room there is. More of them
// than just before come only when somebody adds queues in between: room for as many again.
constexpr size_t room_for(size_t entries) { return 2 * entries + 4096; }

}  // namespace

Result<Ethtool> Ethtool::open() {
  Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (socket.fd < 0) return fail(Code::io, "no socket: {}", errno_text(errno));
  return Ethtool(std::move(socket));
}

Result<void> Ethtool::ask(const std::string& interface, void* question) const {
  ifreq request{};
  if (interface.size() >= sizeof request.ifr_name)
    return fail(Code::not_found, "{}: no name of an interface", interface);
  std::memcpy(request.ifr_name, interface.c_str(), interface.size());
  request.ifr_data = static_cast<char*>(question);
  if (ioctl(socket_.fd, SIOCETHTOOL, &request) == 0) return {};
  const int number = errno;
  const Code code = number == EOPNOTSUPP                  ? Code::unsupported
                    : number == ENODEV                    ? Code::not_found
                    : number == EPERM || number == EACCES ? Code::denied
                                                          : Code::io;
  return fail(code, "{}: the driver's counters cannot be read: {}", interface, errno_text(number));
}

// Pages of memory that is new at each sample cost more than the question.
template <class Question>
Question* Ethtool::question(size_t entry_bytes, size_t entries) {
  const size_t words = (sizeof(Question) + entry_bytes * entries) / sizeof(u64) + 1;
  if (memory_.size() < words) memory_.resize(words);
  std::memset(memory_.data(), 0, sizeof(Question));
  return reinterpret_cast<Question*>(memory_.data());
}

Result<size_t> Ethtool::count(const std::string& interface) {
  auto* info = question<ethtool_sset_info>(sizeof(u32), 1);
  info->cmd = ETHTOOL_GSSET_INFO;
  info->sset_mask = u64{1} << ETH_SS_STATS;
  TRY(ask(interface, info));
  const size_t count = info->sset_mask == 0 ? 0 : info->data[0];
  if (count == 0 || count > kMost)
    return fail(Code::unsupported, "{}: the driver has no counters of its own", interface);
  return count;
}

Result<std::vector<std::string>> Ethtool::names(const std::string& interface) {
  TRY_ASSIGN(const size_t expected, count(interface));
  auto* strings = question<ethtool_gstrings>(ETH_GSTRING_LEN, room_for(expected));
  strings->cmd = ETHTOOL_GSTRINGS;
  strings->string_set = ETH_SS_STATS;
  strings->len = static_cast<u32>(expected);
  TRY(ask(interface, strings));
  std::vector<std::string> names;
  for (size_t i = 0; i < strings->len && i < room_for(expected); ++i) {
    const char* name = reinterpret_cast<const char*>(strings->data) + i * ETH_GSTRING_LEN;
    names.emplace_back(name, strnlen(name, ETH_GSTRING_LEN));
  }
  return names;
}

Result<std::vector<u64>> Ethtool::values(const std::string& interface, size_t names) {
  TRY_ASSIGN(const size_t now, count(interface));
  if (now == names) {
    auto* stats = question<ethtool_stats>(sizeof(u64), room_for(names));
    stats->cmd = ETHTOOL_GSTATS;
    stats->n_stats = static_cast<u32>(names);
    TRY(ask(interface, stats));
    if (stats->n_stats == names) {
      // The values begin right behind the two words of the head.
      const u64* first = memory_.data() + sizeof(ethtool_stats) / sizeof(u64);
      return std::vector<u64>(first, first + names);
    }
  }
  return fail(Code::invalid, "{}: the driver's counters have changed in number", interface);
}

}  // namespace spotter::collect
